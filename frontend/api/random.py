"""Random numbers by explicit keys, under `jax.random`'s names."""

from .frontend.library.random.binomial import binomial as binomial
from .frontend.library.random.binomial import multinomial as multinomial
from .frontend.library.random.choosing import categorical as categorical
from .frontend.library.random.choosing import choice as choice
from .frontend.library.random.choosing import permutation as permutation
from .frontend.library.random.choosing import shuffle as shuffle
from .frontend.library.random.counting import geometric as geometric
from .frontend.library.random.counting import poisson as poisson
from .frontend.library.random.gamma import ball as ball
from .frontend.library.random.gamma import beta as beta
from .frontend.library.random.gamma import chisquare as chisquare
from .frontend.library.random.gamma import dirichlet as dirichlet
from .frontend.library.random.gamma import f as f
from .frontend.library.random.gamma import gamma as gamma
from .frontend.library.random.gamma import generalized_normal as generalized_normal
from .frontend.library.random.gamma import loggamma as loggamma
from .frontend.library.random.gamma import t as t
from .frontend.library.random.keys import PRNGKey as PRNGKey
from .frontend.library.random.keys import bits as bits
from .frontend.library.random.keys import clone as clone
from .frontend.library.random.keys import fold_in as fold_in
from .frontend.library.random.keys import key as key
from .frontend.library.random.keys import key_data as key_data
from .frontend.library.random.keys import split as split
from .frontend.library.random.keys import wrap_key_data as wrap_key_data
from .frontend.library.random.matrices import multivariate_normal as multivariate_normal
from .frontend.library.random.matrices import orthogonal as orthogonal
from .frontend.library.random.reuse import KeyReuseError as KeyReuseError
from .frontend.library.random.reuse import debug_key_reuse as debug_key_reuse
from .frontend.library.random.transformed import cauchy as cauchy
from .frontend.library.random.transformed import double_sided_maxwell as double_sided_maxwell
from .frontend.library.random.transformed import exponential as exponential
from .frontend.library.random.transformed import gumbel as gumbel
from .frontend.library.random.transformed import laplace as laplace
from .frontend.library.random.transformed import logistic as logistic
from .frontend.library.random.transformed import lognormal as lognormal
from .frontend.library.random.transformed import maxwell as maxwell
from .frontend.library.random.transformed import normal as normal
from .frontend.library.random.transformed import pareto as pareto
from .frontend.library.random.transformed import rayleigh as rayleigh
from .frontend.library.random.transformed import triangular as triangular
from .frontend.library.random.transformed import truncated_normal as truncated_normal
from .frontend.library.random.transformed import wald as wald
from .frontend.library.random.transformed import weibull_min as weibull_min
from .frontend.library.random.uniform import bernoulli as bernoulli
from .frontend.library.random.uniform import rademacher as rademacher
from .frontend.library.random.uniform import randint as randint
from .frontend.library.random.uniform import uniform as uniform

__all__ = [
    "KeyReuseError",
    "PRNGKey",
    "ball",
    "bernoulli",
    "beta",
    "binomial",
    "bits",
    "categorical",
    "cauchy",
    "chisquare",
    "choice",
    "clone",
    "debug_key_reuse",
    "dirichlet",
    "double_sided_maxwell",
    "exponential",
    "f",
    "fold_in",
    "gamma",
    "generalized_normal",
    "geometric",
    "gumbel",
    "key",
    "key_data",
    "laplace",
    "loggamma",
    "logistic",
    "lognormal",
    "maxwell",
    "multinomial",
    "multivariate_normal",
    "normal",
    "orthogonal",
    "pareto",
    "permutation",
    "poisson",
    "rademacher",
    "randint",
    "rayleigh",
    "shuffle",
    "split",
    "t",
    "triangular",
    "truncated_normal",
    "uniform",
    "wald",
    "weibull_min",
    "wrap_key_data",
]
