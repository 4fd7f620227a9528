"""Looks for errors of ptxas: compiles random PTX kernels with `ptxas -O3` and with `ptxas -O0`, runs both on an NVIDIA
GPU, and reports the kernels whose results differ.

    python3 tools/gpu-host/ptxas-errors.py [--seconds 60] [--seed 0] [--reduce-seconds 10] [--architecture sm_90]
                                           [--filter COMMAND]
    python3 tools/gpu-host/ptxas-errors.py --compile-only N [--seed 0] [--architecture sm_90]

It needs ptxas 12.9 or later, in the PATH or in /usr/local/cuda/bin, and a GPU of sm_80 or later. The second form only
compiles N modules of 40 kernels at both levels, and needs no GPU.

A kernel follows from its seed alone: `--seed`, or a number after it. 64 threads run it on four inputs, always the same,
and what it leaves in registers and memory is compared. For each kernel that differs, fails or does not end, a line has
its seed and, in parentheses, what it has most of. After about `--seconds`, each of them is made smaller as long as it
differs, for at most about `--reduce-seconds`, and its instructions are printed, without those that set registers before
and store them after. The last line counts kernels. The exit status is 1 if a kernel differs or if ptxas fails.

The printed names are those of files with the whole smaller kernels; SEED.cubin next to SEED.ptx is its code of -O3.

Most errors that it finds are known, so `--filter COMMAND` runs the command with a folder of all kernels that differ,
SEED.ptx and SEED.cubin, and goes on with the seeds that the command prints. tools/gpu-host/unnoticed-errors.ts prints
those of which Tandem does not notice that they may be miscompiled: `--filter "bash .gpu-bundle/run
tools/gpu-host/unnoticed-errors.ts"`.
"""

import argparse
import ctypes
import functools
import itertools
import multiprocessing
import os
import random
import re
import shlex
import subprocess
import tempfile
import time
from collections.abc import Iterable, Iterator, Sequence
from multiprocessing.pool import Pool
from pathlib import Path
from typing import NamedTuple

CORES = len(os.sched_getaffinity(0))
PROCESSES = multiprocessing.get_context("spawn")
KERNELS = 40  # Of a module.
CANDIDATES = 8  # Of a module, when a kernel is made smaller.
THREADS = 64
# Integers that are more frequent than others.
EDGES = (
    *(0, 1, 2, 3, 4, 5, 7, 8, 15, 16, 17, 31, 32, 33, 63, 64, 100, 127, 128, 255, 256, 257, 0x7FFF, 0x8000, 0xFFFF),
    *(0x10000, 0x7FFFFFFE, 0x7FFFFFFF, -0x80000000, -0x7FFFFFFF, -16, -2, -1, 0x55555555, -0x55555556, 0x12345678),
    *(0x00FF00FF, 0x3F800000, -0x40800000),
)
# Parts of forms: `<a|b>` is one of the alternatives, `<1..5>` an integer, `<name>` what is here or what the generator
# has for that, and `<name=text>` the text, which `<name>` then repeats. V, C and G may be constants.
PARTS = {
    "R": "%r<0..<last>>",  # A register of 32 bits.
    "U": "%u<0..3>",  # One that has the same value in all lanes.
    **{"D": "%d<0..5>", "P": "%p<0..5>", "F": "%f<0..5>", "H": "%h<0..3>", "K": "%c<0..3>"},
    **{"V": "<R|R|R|R|R|R|R|U|N|N>", "C": "<R|R|R|R|U|N|N|N|N|N>", "G": "<F|F|F|F|0f<float>>"},
    **{"N": "<edge|edge|edge|-2147483648..2147483647>", "edge": f"<{'|'.join(map(str, EDGES))}>"},
    "float": "<00000000|80000000|3F800000|BF800000|3F000000|40490FDB|7F800000|FF800000|4B000000|4F000000|CF000000|"
    "4F800000|00000001|00800000|7F7FFFFF|34000000>",
    **{"type": "<s32|u32>", "cmp": "<eq|ne|lt|le|gt|ge>", "logic": "<and|or|xor>"},
    **{"shift": "<shl.b32|shr.u32|shr.s32>", "offset": "<0|0|0|0|4|8|12|16|20|24|28|32>", "step": "<1|1|1|2|3>"},
    "lower": "bfe.u32 <x=<R>>, <y=<R>>, <0|4|8|16>, <4|8|12|16>",  # A field with another one above it.
    "permuted": "prmt.b32 <x=<R>>, <y=<R>>, <R|0>, 0x<0123|5410|3340|6540|4321>; selp.b32 <R>, <R>, <y>, <P>",
    "binary": "<add.<type>|sub.<type>|<logic>.b32|<logic>.b32|mul.lo.s32|<min|max>.<type>>",
    "field": "<0, <1..32>|<1..15>, <1..17>|<16..24>, <1..8>|<25..31>, 1|<32..40>, 1>",
    # These put 1 in place of NaN in <x>, and an f32 or, in place of NaN, 2 into %g0: PTX does not say which NaN it is.
    "one": "setp.nan.f16 %p15, <x>, <x>; selp.b16 <x>, 15360, <x>, %p15",
    "ones": "mov.b32 {%k0, %k1}, <x>; setp.nan.f16 %p15, %k0, %k0; selp.b16 %k0, 15360, %k0, %p15; "
    "setp.nan.f16 %p15, %k1, %k1; selp.b16 %k1, 15361, %k1, %p15; mov.b32 <x>, {%k0, %k1}",
    "number": "setp.nan.f32 %p15, <x=<F>>, <x>; selp.f32 %g0, 0f40000000, <x>, %p15",
    # These put an address among the thread's 16 words into %a0, with place for an offset behind it.
    "index": "and.b32 %t0, <R>, <7|3|1>; <mul.wide.u32 %a0, %t0, 4|shl.b32 %t0, %t0, 2; cvt.u64.u32 %a0, %t0>; <base>",
    "pair": "and.b32 %t0, <R>, <7|3|1>; mul.wide.u32 %a0, %t0, 8; <base>",
    **{"vector": "and.b32 %t0, <R>, <3|1>; mul.wide.u32 %a0, %t0, 16; <base>", "base": "add.s64 %a0, %<area>_0, %a0"},
    # The address of another thread's words.
    "neighbour": "mov.u32 %t0, %tid.x; xor.b32 %t0, %t0, <1|2|16|32|33|63>; mov.u64 %a0, sharedWords; "
    "mad.wide.u32 %a0, %t0, 64, %a0",
    **{"condition": "<comparison|comparison|equality|and.pred %p15, <P>, <P>>", "nounroll": '<.pragma "nounroll"|>'},
    "equality": "setp.<eq|ne>.<s32 %p15, <R>, <edge>|s32 %p15, <R>, <R>|s64 %p15, <D>, <edge>|"
    "s16 %p15, <H>, <0|1|2|5|17|255|-1>|f32 %p15, <F>, 0f<float>>",
    # Asynchronous copies to %a0, and what reads them.
    "copy16": "cp.async.cg.shared.global [%a0], [%input_0+<0|16|32>], 16",
    "copy4": "cp.async.ca.shared.global [%a0], [%input_0+<offset>], 4",
    "load": "ld.shared.u32 <R>, [<%a0|%shared_0>+<0|4|8|12>]",
    # Four results of 32 bits of which two are combined.
    "four": "{%t0, %t1, %q0, %q1}",
    "words": "<R>, <R>, <R>, <R>",
    "used": "mov.u32 <R>, %t0; mov.u32 <R>, %q1; xor.b32 <R>, %t1, %q0",
    **{"comparison": "setp.<cmp>.<type> %p15, <R>, <C>", "limit": "and.b32 %m<i>, <R>, <3|7|15>"},
}


def forms(table: str) -> list[str]:
    """The texts of rows, between ` / `, as many times as the row's number says, with 0, 1 and so on in place of #."""
    rows = [row.split(maxsplit=1) for row in table.strip().splitlines()]
    return [form.replace("#", str(i)) for count, text in rows for form in text.split(" / ") for i in range(int(count))]


# The forms of operations, and how frequent they are. Instructions that need each other are one operation.
FORMS = {
    "integer": forms("""
        14 <binary> <R>, <R>, <V>
        5 <shift> <R>, <R>, <0|1|2|3|4|8|15|16|24|30|31|32|33|R|R|R|R|R|R>
        3 <not.b32|neg.s32|abs.s32|popc.b32|clz.b32|brev.b32|bfind.<type>|bfind.shiftamt.u32> <R>, <R>
        2 mad.lo.s32 <R>, <R>, <V>, <V> / <shf.l|shf.r>.<wrap|clamp>.b32 <R>, <R>, <R>, <0..33|R>
        1 mul.hi.<type> <R>, <R>, <V> / sub.s32 <R>, <N>, <R> / add.s32 <R>, <R>, <K> / mov.u32 <R>, <C>
        1 <logic>.b32 <x=<R>>, <R>, <V>; <logic>.b32 <R>, <x>, <R> / lop3.b32 <R>, <R>, <R>, <R>, <0..255>
        1 bfe.<type> <R>, <R>, <<field>|<field>|<R>, <R>> / bfi.b32 <R>, <R>, <R>, <0..31>, <0..32>
        1 prmt.b32 <R>, <R>, <R>, 0x<3210|0123|5410|7632|1032|7540|6420|7531|4444|3340|<0..8><0..8><0..8><0..8>>
        1 <div|rem>.<type> <R>, <R>, <3|5|7|10|12|100|255|641|1000|65537|2147483647|-3|-7|-10|-100|N>
        1 or.b32 %t0, <R>, 1; <<div|rem>.u32|and.b32 %t0, %t0, 2147483647; <div|rem>.s32> <R>, <R>, %t0
        1 dp4a.<s32.s32|u32.u32|u32.s32> <R>, <R>, <R>, <R> / selp.b32 <R>, <V>, <V>, <P>"""),
    "fields": forms("""
        4 bfe.<u32|u32|s32> <R>, <R>, <0|4|8|16|24>, <4|8|16|24> / bfi.b32 <R>, <R>, <R>, <0|4|8|16|24>, <4|8|16|24>
        2 <or.b32|and.b32|xor.b32|add.s32> <R>, <R>, <R> / <shl.b32|shr.u32|shr.s32> <R>, <R>, <4|8|16|24>
        2 and.b32 <R>, <R>, <15|255|65535|65280|16711680|-16777216> / cvt.<s32.s8|u32.u8> <R>, <R>
        1 <lower>; bfe.u32 <z=<R>>, <y>, <8|16|20|24>, <4|8|12>; bfi.b32 <R>, <z>, <x>, <4|8|12|16|24>, <4|8|12>
        1 shf.<l|r>.wrap.b32 <R>, <R>, <R>, <8|16|24> / mul.lo.s32 <R>, <R>, <3|257|65537>
        1 bfi.b32 <R>, <R>, <0|1|-1|255>, <8|16|24>, <8|16|24>
        1 selp.b32 <R>, <R>, <R>, <P> / setp.<cmp>.<type> <P>, <R>, <C>"""),
    "narrow": forms("""
        2 cvt.s8.s32 <H>, <R> / <min|max>.s16 <H>, <H>, <-128|127|0|255> / setp.<cmp>.s16 <P>, <H>, <-128|127>
        1 mul.hi.<s16|u16> <H>, <H>, <H> / mad.lo.s16 <H>, <H>, <H>, <H> / <div|rem>.<s16|u16> <H>, <H>, <3|7|10|86>
        2 cvt.u16.u32 <H>, <R> / cvt.u16.u32 <H>, <R> / cvt.s16.s8 <H>, <H> / cvt.<s32.s16|u32.u16> <R>, <H>
        2 cvt.<s32.s16|u32.u16> <R>, <H> / cvt.s32.s8 <R>, <R> / cvt.u32.u8 <R>, <R> / mul.wide.<s16|u16> <R>, <H>, <H>
        2 <add.s16|add.s16|sub.s16|min.<s16|u16>> <H>, <H>, <H> / mul.lo.s16 <H>, <H>, <H|3|-1|256>
        2 <logic>.b16 <H>, <H>, <H|255|1|-256|15> / <shl.b16|shr.u16|shr.s16> <H>, <H>, <1|4|8|15>
        2 setp.<cmp>.<s16|u16> <P>, <H>, <H|0|1|-1|255> / selp.b16 <H>, <H>, <H>, <P> / cvt.rn.f32.u16 <F>, <H>
        2 cvt.rn.f32.<u8|s8> <F>, <R> / <permuted>; and.b32 <R>, <x>, <255|65535|16777215>
        2 <permuted>; cvt.u16.u32 <H>, <x> / <permuted>; cvt.u32.u8 <R>, <x> / <permuted>; and.b32 <R>, <x>, <R>
        1 cvt.sat.<u8|s16>.<type> <R>, <R> / neg.s16 <H>, <H> / mov.b32 <R>, {<H>, <H>} / mov.b32 {<H>, <H>}, <R>"""),
    "predicate": forms("""
        2 setp.<cmp>.<type> <P>, <R>, <C> / setp.<cmp>.<type> <P>, <R>, <C> / <logic>.pred <P>, <P>, <P>
        1 setp.<cmp>.<logic>.<type> <P>, <R>, <C>, <|!><P> / setp.<eq|ne>.b32 <P>, <R>, <0|1|R> / not.pred <P>, <P>
        1 mov.u32 %t0, <N>; <not.b32|neg.s32> %t1, %t0; setp.<cmp>.<type> <P>, %t1, <N> / mov.pred <P>, <-1|0>
        1 and.b32 %t0, <R>, <1|2|128|255|65536|-2147483648>; setp.<eq|ne>.s32 <P>, %t0, 0
        1 selp.<b32|u32|s32> <R>, <C>, <C>, <P> / selp.u32 %t0, 1, 0, <P>; add.s32 <R>, <R>, %t0
        1 setp.<cmp>.<type> <P>, <K>, <C> / @<|!><P> <binary|binary|shift> <R>, <R>, <V>"""),
    "wide": forms("""
        5 <<add|sub>.s64|<add|sub>.s64|mul.lo.s64|<logic>.b64|<min|max>.<s64|u64>> <D>, <D>, <D>
        2 cvt.<s64.s32|u64.u32> <D>, <R> / mul.wide.<type> <D>, <R>, <V> / cvt.u32.u64 <R>, <D>
        1 mul.hi.<s64|u64> <D>, <D>, <D> / mad.lo.s64 <D>, <D>, <D>, <D> / not.b64 <D>, <D> / mov.b64 <D>, {<R>, <R>}
        1 mad.wide.<type> <D>, <R>, <R>, <D> / selp.b64 <D>, <D>, <D>, <P>
        1 <shl.b64|shr.u64|shr.s64> <D>, <D>, <1|4|31|32|33|63|64|R|R|R|R|R|R>
        1 mov.b64 {%t0, <R>}, <D> / setp.<cmp>.<s64|u64> <P>, <D>, <D|0|1|-1|4294967295>"""),
    "float": forms("""
        6 <add|mul|sub>.rn.f32 <F>, <F>, <G>
        4 fma.rn.f32 <F>, <F>, <G>, <G> / setp.<<cmp>|<cmp>|<cmp>|<cmp>u|<cmp>u|num|nan>.f32 <P>, <F>, <G>
        2 <min|max>.f32 <F>, <F>, <G> / <neg|abs>.f32 <F>, <F> / div.rn.f32 <F>, <F>, <F> / selp.f32 <F>, <G>, <G>, <P>
        2 cvt.rn.f32.<type> <F>, <R> / cvt.rzi.<type>.f32 <R>, <F> / cvt.<rni|rmi|rpi|rzi>.f32.f32 <F>, <F>
        2 mov.b32 %g0, <R>; setp.nan.f32 %p15, %g0, %g0; selp.f32 <F>, 0f3F800000, %g0, %p15
        2 <number>; mov.b32 <R>, %g0 / cvt.rn.f16.f32 <H>, <F> / <add|mul|sub>.<rz|rm|rp>.f32 <F>, <F>, <G>
        1 <<rcp|sqrt|rsqrt|ex2|lg2|sin|cos>.approx.ftz|<ex2|lg2|rsqrt>.approx>.f32 <F>, <F>
        1 div.full.f32 <F>, <F>, <G> / cvt.sat.f32.f32 <F>, <F> / cvt.rz.f16.f32 <H>, <F>
        1 fma.<rm|rz>.f32 <F>, <F>, <G>, <G> / <sqrt.rn|rcp.rn>.f32 <F>, <F> / <number>; copysign.f32 <F>, %g0, <F>"""),
    "half": forms("""
        2 <add|mul|sub>.rn.f16 <H>, <H>, <H> / fma.rn.f16 <H>, <H>, <H>, <H>
        1 <min|max>.f16 <x=<H>>, <H>, <H>; <one> / <neg|abs>.f16 <x=<H>>, <H>; <one> / cvt.rzi.<type>.f16 <R>, <H>
        1 cvt.f32.f16 <F>, <H> / cvt.rn.f16.<type> <H>, <R> / setp.<<cmp>|<cmp>|<cmp>u|nan>.f16 <P>, <H>, <H>
        1 <<add|mul|sub>.rn|min|max>.f16x2 <x=<R>>, <R>, <R>; <ones> / fma.rn.f16x2 <x=<R>>, <R>, <R>, <R>; <ones>
        2 cvt.rn.f16.f32 <H>, <F> / <logic>.b16 <H>, <H>, <H|32767|255|-32768> / mov.b32 <R>, {<H>, <H>}
        1 mov.b32 {<H>, <H>}, <R> / selp.b16 <H>, <H>, <H|0|15360>, <P> / cvt.<s32.s16|u32.u16> <R>, <H>"""),
    "memory": forms("""
        8 <index>; <|||@<P> |@!<P> ><st.<area>.u32 [%a0+<offset>], <R>|ld.<area>.u32 <R>, [%a0+<offset>]>
        1 st.<area>.u32 [%<area>_0+<offset>], <R> / ld.<area>.u32 <R>, [%<area>_0+<offset>]
        1 <index>; <st.<area>.<u8|u16> [%a0+<0|2>], <H>|ld.<area>.<u8|s8|u16|s16> <R>, [%a0+2]>
        1 <index>; atom.<area>.<<add|min|max>.<type>|exch.b32|<logic>.b32> <R>, [%a0+<offset>], <R>
        2 <pair>; <st.<area>.v2.u32 [%a0], {<R>, <R>}|ld.<area>.v2.u32 {<R>, <R>}, [%a0]>
        1 <index>; atom.<area>.cas.b32 <R>, [%a0+<offset>], <R>, <R>
        1 <index>; st.volatile.<area>.u32 [%a0], <R>; ld.volatile.<area>.u32 <R>, [%a0+<offset>]
        2 ld.global.nc.u32 <R>, [%input_0+<offset>] / ld.global.nc.v2.u32 {<R>, <R>}, [%input_0+<8|16>]
        1 <pair>; <ld.<area>.v4.u8 {<R>, <R>, <R>, <R>}, [%a0]|st.<area>.v4.u8 [%a0], {<R>, <R>, <R>, <R>}>
        1 <vector>; <st.<area>.v4.u32 [%a0], {<R>, <R>, <R>, <R>}|ld.<area>.v4.u32 {<R>, <R>, <R>, <R>}, [%a0]>"""),
    "extremes": forms("""
        6 <min|max>.<type> <R>, <R>, <R|R|0|-1|N>
        2 mov.u32 <R>, <0|-1|-2147483648|2147483647|N> / <add|sub>.s32 <R>, <R>, <R|1|-1> / <not.b32|neg.s32> <R>, <R>
        1 setp.<cmp>.<type> <P>, <R>, <R|0|N> / selp.b32 <R>, <R>, <R|0>, <P> / <logic>.b32 <R>, <R>, <R|-2147483648>
        1 <min|max>.<s16|u16> <H>, <H>, <H> / cvt.u16.u32 <H>, <R> / cvt.<s32.s16|u32.u16> <R>, <H>"""),
    # As nvcc writes bools: selections from literals, and sums and comparisons of them.
    "flags": forms("""
        3 setp.<cmp>.<type> <P>, <R>, <C> / <logic>.pred <P>, <P>, <P> / add.s32 <R>, <R>, <R|1|2|3|-1>
        3 selp.<u16|b16> <H>, <1, 0|0, 1|-1, 0|3, 2>, <P>
        3 selp.<b32|u32> <R>, <1, 0|0, 1|-1, 0|3, 2|7, 4|<N>, <N>>, <P>
        2 mul.wide.u16 <R>, <H>, <2|3|4|5> / cvt.<s32.s16|u32.u16> <R>, <H> / shl.b16 <H>, <H>, 1
        2 <logic>.b32 <R>, <R>, <R> / mad.lo.s32 <R>, <R>, <37|2|4>, <R>
        2 and.b32 %t0, <R>, <1|2|128|255|65536|1048576>; setp.<eq|ne>.s32 <P>, %t0, 0
        1 setp.<eq|ne>.s16 <P>, <H>, <0|1> / <logic>.b16 <H>, <H>, <1|H> / bfi.b32 <R>, <R>, <R>, <1|2|8>, <1|8>
        1 selp.b32 <R>, <R>, <R|1|0>, <P> / mov.pred <P>, <P> / not.pred <P>, <P> / shl.b32 <R>, <R>, <1|2>
        1 setp.<eq|ne>.s32 <P>, <R>, <0|1|2> / setp.<cmp>.<logic>.<type> <P>, <R>, <C>, <|!><P>
        1 cvt.u16.u32 <H>, <R>"""),
    # Of constants that only ptxas knows.
    "hidden": forms("""
        4 mov.u32 %t0, <N>; <not.b32|neg.s32> <R>, %t0
        3 <binary> <R>, <R>, <R> / <shift> <R>, <R>, <R>
        1 setp.<cmp>.<type> <P>, <R>, <R> / selp.b32 <R>, <R>, <R>, <P> / mul.hi.<type> <R>, <R>, <R>
        1 mad.lo.s32 <R>, <R>, <R>, <R> / mul.wide.<type> <D>, <R>, <R> / shf.l.wrap.b32 <R>, <R>, <R>, <R>
        1 or.b32 %t0, <R>, 1; <div|rem>.u32 <R>, <R>, %t0 / cvt.rn.f32.<type> <F>, <R> / cvt.u16.u32 <H>, <R>"""),
}
# Where all lanes are together, operations of these forms have only operands with the same value in all lanes.
UNIFORM_FORMS = [form for form in FORMS["integer"] if not re.search("<[PK]>", form)] + forms("""
    2 setp.<cmp>.<type> <P>, <R>, <C> / <comparison>; selp.b32 <R>, <R>, <C>, %p15 / mul.wide.<type> <D>, <R>, <C>""")
UNIFORM_PARTS = {
    **{"R": PARTS["U"], "V": "<U|U|U|N|N>", "C": "<U|U|U|N|N>", "condition": "<comparison>"},
    "limit": "<mov.u32 %m<i>, <1|2|3|4|5|7|8|12>|and.b32 %m<i>, <U>, <3|7|15>>",
}
# Only where all lanes are together: PTX does not say what these do elsewhere.
WARP_FORMS = forms("""
    1 shfl.sync.<bfly|down|up|idx>.b32 <R>, <R>, <0..31|0..31|U|U|R>, <31|7199|0>, -1 / bar.sync 0
    1 shfl.sync.bfly.b32 <R>|<P>, <R>, <1|2|4|8|16>, 31, -1 / match.any.sync.b32 <R>, <R>, -1
    1 vote.sync.ballot.b32 <R>, <P>, -1 / vote.sync.<any|all|uni>.pred <P>, <P>, -1
    1 <neighbour>; bar.sync 0; ld.shared.u32 <R>, [%a0+<offset>]; bar.sync 0
    1 <neighbour>; bar.sync 0; st.shared.u32 [%a0+<offset>], <R>; bar.sync 0
    1 mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32 <four>, {<words>}, {<R>, <R>}, {<words>}; <used>
    1 bar.warp.sync -1; ldmatrix.sync.aligned.m8n8.x4<|.trans>.shared.b16 <four>, [%shared_0+<0|16|32>]; <used>
    1 add.s64 %a0, %shared_0, <0|16|32>; <copy16|copy4>; <binary> <R>, <R>, <V>; cp.async.wait_all; <load>
    1 redux.sync.<add.s32|<min|max>.<type>|<logic>.b32> <R>, <R>, -1""")
# An operation is drawn again if an instruction in it matches. To look for such an error again, take its line out.
EXCLUDED = (
    # ptxas 13.0 is known to get these wrong, and NVRTC does not write them:
    r"^lop3",  # with an operand that is there twice, which ptxas also finds through copies;
    # with a constant position beyond 31, and, as if it were the same in all lanes, of what is;
    r"^bfe.* (?:3[2-9]|[4-9]\d|%\w+), \S+$",
    r"^bfi.* 32$",  # with a length of 32;
    r"^prmt.* 0x\w*[89a-f]",  # with a selector that repeats the sign of a byte;
    r"^shl\.b64 .* 64$",  # of the result of a mul.wide, by 64;
    r"^cvt\.sat",  # of the result of a neg.s32.
    # ptxas 13.0 takes these results for positive when they are not (`hasOverflowingSigns` in machine-code.ts):
    r"^(?:abs\.s32|neg\.s16|sub\.s16)",  # of the least value, or of it from 0, which ptxas also finds in a register.
    # PTX does not say what these give:
    r"^(?:div|rem)\.[su]32 .* (?:0|-1)$",  # a division by 0, and of the least value by -1;
    r"^(?:min|max)\.f16\S* \S+ (%\w+), \1$",  # of a NaN with itself: which NaN;
    r"\{[^}]*(%\w+)\b[^}]*\1\b[^}]*\},",  # with a register that is there twice among the results.
    r"^(?:atom|ld\.volatile|st\.volatile)\.local",  # PTX has no such instructions.
)
# Of branches and loops, `body N` is the place of a block, # the statement's number and ^ that of the loop around it.
IF = "<condition>; @!%p15 bra $end#; body 0; $end#:"
IF_ELSE = "<condition>; @!%p15 bra $else#; body 0; bra.uni $end#; $else#:; body 1; $end#:"
JUMP = "<condition>; @%p15 bra $<end|next>^"
# Limits are at most 15, and no loop has more than 16 rounds.
LOOPS = (
    "mov.u32 %c<i>, 0; $start#:; <nounroll>; setp.ge.u32 %p15, %c<i>, %m<i>; @%p15 bra $end#; body 0; "
    "$next#:; add.s32 %c<i>, %c<i>, <step>; bra.uni $start#; $end#:",
    "mov.u32 %c<i>, 0; setp.eq.s32 %p15, %m<i>, 0; @%p15 bra $end#; $start#:; <nounroll>; body 0; "
    "$next#:; add.s32 %c<i>, %c<i>, <step>; setp.lt.u32 %p15, %c<i>, %m<i>; @%p15 bra $start#; $end#:",
    "mov.u32 %c<i>, 0; add.s32 %m<i>, %m<i>, 1; $start#:; <nounroll>; body 0; "
    "$next#:; add.s32 %c<i>, %c<i>, 1; setp.ne.s32 %p15, %c<i>, %m<i>; @%p15 bra $start#; $end#:",
    "mov.u32 %c<i>, %m<i>; $start#:; <nounroll>; body 0; "
    "$next#:; add.s32 %c<i>, %c<i>, -<step>; setp.gt.s32 %p15, %c<i>, 0; @%p15 bra $start#; $end#:",
)
# What a kernel has most of, and what else it has.
THEMES = (*FORMS, "integer", "integer", "flow", "flow", "warp", "all", "all")
OTHERS = (*FORMS, "integer")
# What is around the instructions of a kernel. %t, %k, %g, %a and %p15 are only for values within an operation.
BEFORE = """.visible .entry NAME(.param .u64 input, .param .u64 result, .param .u64 memory, .param .b32 uniform[4])
{
.reg .b32 %r<14>, %u<4>, %c<4>, %m<4>, %t<2>, %q<2>;
.reg .b64 %d<6>, %a<1>, %input_<1>, %result_<1>, %global_<1>, %shared_<1>, %local_<1>;
.reg .b16 %h<4>, %k<2>; .reg .f32 %f<6>, %g<1>; .reg .pred %p<16>;
.shared .align 16 .b8 sharedWords[4096]; .local .align 16 .b8 localWords[64];
""" + ";\n".join(forms("""
    1 mov.u32 %t0, %tid.x; mov.u32 %t1, %t0
    1 ld.param.u64 %a0, [input]; cvta.to.global.u64 %a0, %a0; mad.wide.u32 %input_0, %t0, 64, %a0
    1 ld.param.u64 %a0, [result]; cvta.to.global.u64 %a0, %a0; mad.wide.u32 %result_0, %t0, 128, %a0
    1 ld.param.u64 %a0, [memory]; cvta.to.global.u64 %a0, %a0; mad.wide.u32 %global_0, %t0, 64, %a0
    1 mov.u64 %a0, sharedWords; mad.wide.u32 %shared_0, %t0, 64, %a0; mov.u64 %local_0, localWords
    4 ld.param.u32 %u#, [uniform+4*#]; mov.u32 %c#, %u#; mov.u32 %m#, %u#
    14 ld.global.u32 %r#, [%input_0+4*#]
    16 st.shared.u32 [%shared_0+4*#], %t0; add.s32 %t0, %t0, 1; st.local.u32 [%local_0+4*#], %r0
    6 cvt.s64.s32 %d#, %r#; setp.lt.s32 %p#, %r#, 5; cvt.rn.f32.s32 %f#, %r#
    4 cvt.u16.u32 %h#, %r#"""))
AFTER = ";\n".join(forms("""
    14 st.global.u32 [%result_0+4*#], %r#
    3 st.global.u64 [%result_0+56+8*#], %d#
    4 st.global.u16 [%result_0+80+2*#], %h#; st.global.u32 [%result_0+100+4*#], %u#
    3 setp.nan.f32 %p15, %f#, %f#; selp.f32 %g0, 0f40000000, %f#, %p15; st.global.f32 [%result_0+88+4*#], %g0
    1 ld.shared.u32 %t0, [%shared_0+8]; ld.local.u32 %t1, [%local_0+12]; st.global.v2.u32 [%result_0+120], {%t0, %t1}
    6 selp.u32 %t1, 1, 0, %p#; shl.b32 %t0, %t0, 1; or.b32 %t0, %t0, %t1
    1 st.global.u32 [%result_0+116], %t0; ret"""))
Block = tuple["Statement", ...]


class Statement(NamedTuple):
    """An operation, branch, loop or jump: its instructions and labels, and the blocks that have places in them."""

    lines: tuple[str, ...]
    bodies: tuple[Block, ...] = ()
    is_loop: bool = False


class Generator:
    """Writes the kernel of a seed."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.theme = self.random.choice(THEMES)
        self.names = {**PARTS, "last": self.random.choice(("3", "5", "9", "13"))}
        self.budget = self.random.choice((8, 15, 30, 50, 80))
        self.uniform_share = self.random.choice((0, 0, 0.1, 0.4))
        self.loops = 0

    def lines(self, form: str, uniform: bool = False, **names: str) -> tuple[str, ...]:
        """The instructions of a form. `uniform`: their operands have the same value in all lanes."""
        names = self.names | (UNIFORM_PARTS if uniform else {}) | names
        while match := re.search("<([^<>]*)>", form):
            name, is_assigned, text = match[1].partition("=")
            if is_assigned:
                names[name] = text
            else:
                text = self.random.choice(name.split("|"))
                text = names.get(text, text)
                if ends := re.fullmatch(r"(-?\d+)\.\.(-?\d+)", text):
                    text = str(self.random.randint(int(ends[1]), int(ends[2])))
            form = form[: match.start()] + text + form[match.end() :]
        return tuple(line for line in form.split("; ") if line)

    def block(self, length: int = 80, together: bool = True, in_loop: bool = False, depth: int = 0) -> Block:
        """At most `length` statements, with jumps if `in_loop`. `together`: all lanes are together there."""
        statements: list[Statement] = []
        while len(statements) < length and self.budget > 0:
            self.budget -= 1
            chance = self.random.random()
            control = 0.25 if self.theme in ("flow", "all") else 0.08
            if together and self.theme in ("warp", "all") and chance > 0.7:
                statements.append(Statement(self.lines(self.random.choice(WARP_FORMS))))
            elif chance < control and depth < 4:
                statements.append(self.branch_or_loop(together, in_loop, depth + 1))
            elif chance < control + 0.06 and in_loop:
                statements.append(Statement(self.lines(JUMP)))
            else:
                statements.append(self.operation(together))
        return tuple(statements)

    def operation(self, together: bool) -> Statement:
        kind = self.theme if self.theme in FORMS and self.random.random() < 0.65 else self.random.choice(OTHERS)
        uniform = together and self.random.random() < self.uniform_share
        table = UNIFORM_FORMS if uniform else FORMS[kind]
        while True:
            area = self.random.choice(("shared", "shared", "local", "global"))
            lines = self.lines(self.random.choice(table), uniform, area=area)
            if not any(re.search(pattern, line) for pattern in EXCLUDED for line in lines):
                return Statement(lines)

    def branch_or_loop(self, together: bool, in_loop: bool, depth: int) -> Statement:
        chance = self.random.random()
        uniform = self.random.random() < (0.25 if chance < 0.55 else 0.4)
        together = together and uniform
        if chance < 0.55:
            first = self.block(self.random.randrange(1, 6), together, in_loop, depth)
            other = self.block(self.random.randrange(5), together, in_loop, depth)
            lines = self.lines(IF_ELSE if other else IF, uniform)
            return Statement(lines, (first, other) if other else (first,))
        if chance < 0.9 and self.loops < 3:
            self.loops += 1
            lines = self.lines(f"<limit>; {self.random.choice(LOOPS)}", uniform, i=str(self.loops))
            return Statement(lines, (self.block(self.random.randrange(1, 7), together, not together, depth),), True)
        cases = range(self.random.choice((4, 8)))
        labels = ", ".join(f"$case#_{case}" for case in cases)
        form = f"and.b32 %t0, <R>, {len(cases) - 1}; $table#: .branchtargets {labels}; brx.idx %t0, $table#; "
        form += "".join(f"$case#_{case}:; body {case}; bra.uni $end#; " for case in cases) + "$end#:"
        bodies = [self.block(self.random.randrange(3), False, in_loop, depth) for _ in cases]
        return Statement(self.lines(form), tuple(bodies))


def instructions(block: Block, numbers: Iterator[int] | None = None, loop: int = 0) -> list[str]:
    """The instructions and labels of a block, with `numbers` in the labels."""
    numbers, written = numbers or itertools.count(), []
    for statement in block:
        number = next(numbers)
        for line in statement.lines:
            if line.startswith("body "):
                body = statement.bodies[int(line.removeprefix("body "))]
                written += instructions(body, numbers, number if statement.is_loop else loop)
            else:
                line = line.replace("#", str(number)).replace("^", str(loop))
                written.append(line if line.endswith(":") else f"{line};")
    return written


def module(blocks: Iterable[Block], architecture: str) -> str:
    """PTX of kernels k0, k1 and so on."""
    ptx = f".version 8.8\n.target {architecture}\n.address_size 64\n"
    for i, block in enumerate(blocks):
        body = "\n".join(instructions(block))
        ptx += f"{BEFORE.replace('NAME', f'k{i}')};\n{body}\n{AFTER};\n}}\n"
    return ptx


def compiled(ptx: str, architecture: str) -> tuple[bytes, bytes] | str:
    """Machine code of -O3 and of -O0, or what ptxas says."""
    images = []
    with tempfile.TemporaryDirectory() as folder:
        source, image = Path(folder, "module.ptx"), Path(folder, "module.cubin")
        source.write_text(ptx, "utf8")
        for level in ("-O3", "-O0"):
            command = ["timeout", "60", "ptxas", f"-arch={architecture}", level, source, "-o", image]
            process = subprocess.run(command, capture_output=True, text=True)
            if process.returncode != 0:
                return f"ptxas {level} ends with {process.returncode}: {process.stderr.strip()[:300]}"
            images.append(image.read_bytes())
    return images[0], images[1]


def compiled_seeds(task: tuple[int, str]) -> tuple[int, tuple[bytes, bytes] | str]:
    first, architecture = task
    blocks = [Generator(seed).block() for seed in range(first, first + KERNELS)]
    return first, compiled(module(blocks, architecture), architecture)


@functools.cache
class Gpu:
    """The first GPU."""

    def __init__(self) -> None:
        self.driver = ctypes.CDLL("libcuda.so.1")
        context, self.buffer = ctypes.c_void_p(), ctypes.c_uint64()
        self.call("cuInit", 0)
        self.call("cuDevicePrimaryCtxRetain", ctypes.byref(context), 0)
        self.call("cuCtxSetCurrent", context)
        self.call("cuMemAlloc_v2", ctypes.byref(self.buffer), ctypes.c_size_t(256 * THREADS))
        version = (ctypes.c_int(), ctypes.c_int())
        for number, attribute in zip(version, (75, 76)):
            self.call("cuDeviceGetAttribute", ctypes.byref(number), attribute, 0)
        self.architecture = f"sm_{version[0].value}{version[1].value}"

    def call(self, function: str, *arguments: object) -> None:
        status = getattr(self.driver, function)(*arguments)
        if status != 0:
            raise RuntimeError(f"{function} gives {status}")

    def results(self, image: bytes, kernels: Sequence[int]) -> list[tuple[int, bytes]]:
        """What the kernels of an image write, each for all inputs."""
        draw = random.Random(77)
        values = (*EDGES, *(draw.getrandbits(32) for _ in EDGES))
        loaded, function, results = ctypes.c_void_p(), ctypes.c_void_p(), []
        self.call("cuModuleLoadData", ctypes.byref(loaded), image)
        for _ in range(4):
            words, uniform = ((ctypes.c_uint32 * n)(*draw.choices(values, k=n)) for n in (64 * THREADS, 4))
            arrays = [ctypes.c_uint64(self.buffer.value + offset * THREADS) for offset in (0, 64, 192)]
            parameters = (ctypes.c_void_p * 4)(*map(ctypes.addressof, (*arrays, uniform)))
            size, output = ctypes.c_size_t(ctypes.sizeof(words)), type(words)()
            for kernel in kernels:
                self.call("cuModuleGetFunction", ctypes.byref(function), loaded, f"k{kernel}".encode())
                self.call("cuMemcpyHtoD_v2", self.buffer, words, size)
                self.call("cuLaunchKernel", function, 1, 1, 1, THREADS, 1, 1, 0, None, parameters, None)
                self.call("cuMemcpyDtoH_v2", output, self.buffer, size)
                results.append((kernel, bytes(output)))
        self.call("cuModuleUnload", loaded)
        return results


def different_on_gpu(images: tuple[bytes, bytes], kernels: Sequence[int]) -> list[int]:
    results = zip(*(Gpu().results(image, kernels) for image in images))
    return sorted({optimized[0] for optimized, plain in results if optimized != plain})


class GpuProcess:
    """Finds kernels that differ, in a process that is replaced after a kernel that fails or does not end."""

    def __init__(self) -> None:
        self.pool = PROCESSES.Pool(1)

    def different(self, images: tuple[bytes, bytes], kernels: Sequence[int]) -> list[int]:
        try:
            return self.pool.apply_async(different_on_gpu, (images, kernels)).get(timeout=20)
        except (RuntimeError, multiprocessing.TimeoutError):
            self.pool.terminate()
            self.pool = PROCESSES.Pool(1)
            return list(kernels) if len(kernels) == 1 else [i for one in kernels for i in self.different(images, [one])]


def write(block: Block, folder: str, seed: int, architecture: str) -> None:
    """Writes the kernel's PTX and its code of -O3 into the folder."""
    ptx = module([block], architecture)
    Path(folder, f"{seed}.ptx").write_text(ptx, "utf8")
    Path(folder, f"{seed}.cubin").write_bytes(compiled(ptx, architecture)[0])


def filtered(seeds: Sequence[int], command: str, architecture: str) -> list[int]:
    """The seeds that the command prints, given a folder with the kernels of all."""
    with tempfile.TemporaryDirectory() as folder:
        for seed in seeds:
            write(Generator(seed).block(), folder, seed, architecture)
        process = subprocess.run([*shlex.split(command), folder], stdout=subprocess.PIPE, text=True, check=True)
    return [seed for seed in seeds if str(seed) in process.stdout.split()]


def without_jumps(block: Block) -> Block:
    """A loop's body without the jumps of this loop."""
    rest = [one for one in block if not one.lines[-1].endswith("^")]
    return tuple(one if one.is_loop else one._replace(bodies=tuple(map(without_jumps, one.bodies))) for one in rest)


def simpler(block: Block) -> Iterator[Block]:
    """The block with less of it, in all ways."""
    for at, statement in enumerate(block):
        before, after = block[:at], block[at + 1 :]
        for count in (1, 2, 4, 8, 16):
            if at % count == 0 and at + count // 2 < len(block):
                yield before + block[at + count :]
        for i, body in enumerate(statement.bodies):
            yield before + (without_jumps(body) if statement.is_loop else body) + after
            for other in simpler(body):
                bodies = (*statement.bodies[:i], other, *statement.bodies[i + 1 :])
                yield (*before, statement._replace(bodies=bodies), *after)
        if "$else#:" in statement.lines and not statement.bodies[1]:
            lines = (statement.lines[0], *IF.split("; ")[1:])
            yield (*before, Statement(lines, statement.bodies[:1]), *after)


def smaller(block: Block, end: float, compilers: Pool, gpu: GpuProcess, architecture: str) -> Block | None:
    """The smallest of the simpler blocks that differ, if it is found before the end."""
    candidates = sorted(simpler(block), key=lambda candidate: len(instructions(candidate)))
    modules = [candidates[i : i + CANDIDATES] for i in range(0, len(candidates), CANDIDATES)]
    for i in range(0, len(modules), CORES):
        if time.monotonic() >= end:
            return None
        tasks = [(module(blocks, architecture), architecture) for blocks in modules[i : i + CORES]]
        for blocks, images in zip(modules[i:], compilers.starmap(compiled, tasks, 1)):
            if not isinstance(images, str) and (different := gpu.different(images, range(len(blocks)))):
                return blocks[different[0]]
    return None


def main() -> None:
    os.environ["PATH"] += ":/usr/local/cuda/bin"
    parser = argparse.ArgumentParser(formatter_class=argparse.RawDescriptionHelpFormatter, description=__doc__)
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--reduce-seconds", type=float, default=10)
    parser.add_argument("--architecture", help="by default that of the GPU, and without one sm_90")
    parser.add_argument("--filter", metavar="COMMAND")
    parser.add_argument("--compile-only", type=int, metavar="N")
    options = parser.parse_args()
    gpu = GpuProcess() if options.compile_only is None else None
    architecture = options.architecture or (Gpu().architecture if gpu else "sm_90")
    end = time.monotonic() + options.seconds
    step = KERNELS * (4 * CORES if gpu else options.compile_only)
    failures, different, folder = 0, [], None
    with PROCESSES.Pool(CORES) as compilers:
        for start in itertools.count(options.seed, step):
            tasks = [(first, architecture) for first in range(start, start + step, KERNELS)]
            for first, images in compilers.imap_unordered(compiled_seeds, tasks):
                if isinstance(images, str):
                    failures += 1
                    print(f"seeds {first} to {first + KERNELS - 1}: {images}", flush=True)
                elif gpu:
                    for i in gpu.different(images, range(KERNELS)):
                        different.append(first + i)
                        print(f"seed {first + i} ({Generator(first + i).theme}) differs", flush=True)
            if gpu is None or time.monotonic() >= end:
                break
        total = len(different)
        if options.filter and different:
            different = filtered(different, options.filter, architecture)
            print(f"{total - len(different)} of {total} are known")
        for seed in different:
            block, stop = Generator(seed).block(), time.monotonic() + options.reduce_seconds
            while (found := smaller(block, stop, compilers, gpu, architecture)) is not None:
                block = found
            folder = folder or tempfile.mkdtemp(prefix="ptxas-errors-")
            write(block, folder, seed, architecture)
            print(f"{folder}/{seed}.ptx:", *instructions(block), sep="\n    ", flush=True)
    kernels = start + step - options.seed
    print(f"{kernels} kernels, {len(different)} differ, ptxas failed on {failures} of {kernels // KERNELS} modules")
    raise SystemExit(1 if different or failures else 0)


if __name__ == "__main__":
    main()
