"""Random numbers by explicit keys, under `jax.random`'s names."""

from .frontend.random.binomial import binomial as binomial
from .frontend.random.binomial import multinomial as multinomial
from .frontend.random.choosing import categorical as categorical
from .frontend.random.choosing import choice as choice
from .frontend.random.choosing import permutation as permutation
from .frontend.random.choosing import shuffle as shuffle
from .frontend.random.counting import geometric as geometric
from .frontend.random.counting import poisson as poisson
from .frontend.random.gamma import ball as ball
from .frontend.random.gamma import beta as beta
from .frontend.random.gamma import chisquare as chisquare
from .frontend.random.gamma import dirichlet as dirichlet
from .frontend.random.gamma import f as f
from .frontend.random.gamma import gamma as gamma
from .frontend.random.gamma import generalized_normal as generalized_normal
from .frontend.random.gamma import loggamma as loggamma
from .frontend.random.gamma import t as t
from .frontend.random.keys import PRNGKey as PRNGKey
from .frontend.random.keys import bits as bits
from .frontend.random.keys import clone as clone
from .frontend.random.keys import fold_in as fold_in
from .frontend.random.keys import key as key
from .frontend.random.keys import key_data as key_data
from .frontend.random.keys import split as split
from .frontend.random.keys import wrap_key_data as wrap_key_data
from .frontend.random.matrices import multivariate_normal as multivariate_normal
from .frontend.random.matrices import orthogonal as orthogonal
from .frontend.random.reuse import KeyReuseError as KeyReuseError
from .frontend.random.reuse import debug_key_reuse as debug_key_reuse
from .frontend.random.transformed import cauchy as cauchy
from .frontend.random.transformed import double_sided_maxwell as double_sided_maxwell
from .frontend.random.transformed import exponential as exponential
from .frontend.random.transformed import gumbel as gumbel
from .frontend.random.transformed import laplace as laplace
from .frontend.random.transformed import logistic as logistic
from .frontend.random.transformed import lognormal as lognormal
from .frontend.random.transformed import maxwell as maxwell
from .frontend.random.transformed import normal as normal
from .frontend.random.transformed import pareto as pareto
from .frontend.random.transformed import rayleigh as rayleigh
from .frontend.random.transformed import triangular as triangular
from .frontend.random.transformed import truncated_normal as truncated_normal
from .frontend.random.transformed import wald as wald
from .frontend.random.transformed import weibull_min as weibull_min
from .frontend.random.uniform import bernoulli as bernoulli
from .frontend.random.uniform import rademacher as rademacher
from .frontend.random.uniform import randint as randint
from .frontend.random.uniform import uniform as uniform

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
