"""Writes a trace and its results for other programs.

Input: an `Analysis`. Output: text or bytes.
"""
