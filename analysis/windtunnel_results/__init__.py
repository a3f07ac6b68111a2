"""Reads windtunnel result files with h5py and pandas. Recomputes nothing."""
from .read import Result, read

__all__ = ["Result", "read"]
