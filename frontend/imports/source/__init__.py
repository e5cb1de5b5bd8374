"""adze IR as Python source against `adze.numpy` and `adze.lax`."""
