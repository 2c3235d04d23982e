"""Memory accesses of vector instructions, by the manuals of Intel's intrinsics and of gcc."""

from __future__ import annotations

import pytest

from regionpredict.library import memory_intrinsic, touches_no_memory

# name: read or write, position of the address, bytes, lanes
ACCESSES = {
    "_mm512_i32gather_pd": ("read", 1, 8, 8),
    "__builtin_ia32_gathersiv8df": ("read", 1, 8, 8),
    "__builtin_ia32_gathersiv16sf": ("read", 1, 4, 16),
    "__builtin_ia32_gather3siv4df": ("read", 1, 8, 4),
    "__builtin_ia32_gatherd_pd256": ("read", 1, 8, 4),
    "__builtin_ia32_gatherd_ps256": ("read", 1, 4, 8),
    "__builtin_ia32_scattersiv8df": ("write", 0, 8, 8),
    "_mm256_loadu_pd": ("read", 0, 32, 1),
}
REGISTERS = (
    "__builtin_ia32_cmpd256_mask", "__builtin_ia32_shufpd", "__builtin_ia32_ptestz256",
    "_mm256_add_pd",
)  # fmt: skip
OTHERS = ("__builtin_ia32_maskloadpd256", "__builtin_ia32_movntpd", "__builtin_ia32_storeups")


@pytest.mark.parametrize("name", ACCESSES)
def test_a_load_or_store_has_its_address_and_size(name: str) -> None:
    assert memory_intrinsic(name) == ACCESSES[name]
    assert not touches_no_memory(name)


@pytest.mark.parametrize("name", REGISTERS)
def test_an_instruction_on_registers_touches_no_memory(name: str) -> None:
    assert touches_no_memory(name)


@pytest.mark.parametrize("name", OTHERS)
def test_an_unknown_instruction_on_memory_stays_unknown(name: str) -> None:
    assert not touches_no_memory(name)


@pytest.mark.parametrize(
    ("name", "known"),
    [
        ("Rf_dnorm4", True), ("Rf_pnbinom_mu", True), ("Rf_trigamma", True),
        ("Rf_bessel_k", True), ("Rf_rexp", True),
        ("Rf_bessel_k_ex", False), ("Rf_lgammafn_sign", False), ("Rf_pnorm_both", False),
        ("Rf_duplicate", False),
    ],
)  # fmt: skip
def test_functions_of_numbers_in_r_touch_no_memory(name: str, *, known: bool) -> None:
    """Those that also write through a pointer have names of their own."""
    assert touches_no_memory(name) is known
