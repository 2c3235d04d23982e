"""Small loop nests and the caches on which every reference of them is run."""

from __future__ import annotations

from typing import NamedTuple

from nest_texts import nest_of

from regionpredict.workload.loop_nest import LoopNest


class Nest(NamedTuple):
    """Loops in n, and caches that they are run on: threads, sharers, bytes, chunk if there is one.

    `near`: within 2.5 %, an array, read and written apart. `rough`: within 14 %, where lines at the
    ends of rows or of pieces weigh more than in anything that is worth a team.
    """

    loops: str
    arrays: str
    n: int
    near: list[tuple[int, ...]]
    rough: list[tuple[int, ...]]


NESTS = {
    "copy": Nest(  # two streams
        """for (int i = 0; i < n; i++) b[i] = a[i];""",
        "double *a, double *b",
        700,
        near=[(1, 1, 512), (4, 1, 4096), (4, 4, 65536), (8, 2, 2048), (2, 2, 16384), (3, 3, 1024)],
        rough=[],
    ),
    "strided": Nest(  # strides of half a line and of more
        """for (int i = 0; i < n; i++) b[4*i] = a[12*i];""",
        "double *a, double *b",
        400,
        near=[
            (1, 1, 512),
            (4, 1, 4096),
            (4, 4, 65536),
            (8, 2, 2048),
            (2, 2, 16384),
            (4, 2, 1024, 2),
        ],
        rough=[],
    ),
    "stencil2d": Nest(  # rows that are read three times
        """for (int i = 1; i < n-1; i++)
      for (int j = 1; j < n-1; j++) b[i][j] = a[i][j-1] + a[i][j+1] + a[i-1][j] + a[i+1][j];""",
        "double a[n][n], double b[n][n]",
        48,
        near=[
            (1, 1, 2048),
            (4, 1, 16384),
            (4, 4, 16384),
            (8, 2, 4096),
            (2, 2, 4096),
            (4, 2, 65536, 2),
        ],
        rough=[(1, 1, 512), (4, 1, 1024)],
    ),
    "matmul": Nest(  # a row, a matrix and an element
        """for (int i = 0; i < n; i++)
      for (int j = 0; j < n; j++)
      for (int k = 0; k < n; k++) c[i][j] += a[i][k] * b[k][j];""",
        "double a[n][n], double b[n][n], double c[n][n]",
        20,
        near=[(1, 1, 4096), (4, 1, 65536), (4, 4, 8192), (8, 2, 8192), (2, 2, 8192), (3, 3, 8192)],
        rough=[(4, 4, 1024, 1), (4, 4, 4096, 1)],
    ),
    "syrk": Nest(  # a triangle of rows with rows
        """for (int i = 0; i < n; i++)
      for (int j = 0; j <= i; j++)
      for (int k = 0; k < n; k++) c[i][j] += a[i][k] * a[j][k];""",
        "double a[n][n], double c[n][n]",
        24,
        near=[],
        rough=[(1, 1, 1024), (4, 1, 65536), (8, 2, 8192), (4, 2, 4096, 2)],
    ),
    "transpose": Nest(  # rows and columns
        """for (int i = 0; i < n; i++)
      for (int j = 0; j < n; j++) b[j][i] = a[i][j];""",
        "double a[n][n], double b[n][n]",
        48,
        near=[(1, 1, 65536), (4, 4, 65536), (2, 2, 65536), (3, 3, 65536)],
        rough=[(1, 1, 4096), (4, 1, 4096), (4, 4, 512), (8, 2, 4096)],
    ),
    "triangle": Nest(  # columns of half a matrix
        """for (int i = 0; i < n; i++)
      for (int j = i; j < n; j++) s[i] += a[j][i] * x[j];""",
        "double a[n][n], double *x, double *s",
        48,
        near=[],
        rough=[(4, 1, 4096), (4, 4, 65536), (8, 2, 8192), (4, 1, 8192)],
    ),
    "mvt": Nest(  # a vector that all read
        """for (int i = 0; i < n; i++)
      for (int j = 0; j < n; j++) s[i] += a[i][j] * x[j];""",
        "double a[n][n], double *x, double *s",
        64,
        near=[
            (1, 1, 2048),
            (4, 4, 65536),
            (2, 2, 65536),
            (3, 3, 65536),
            (1, 1, 4096),
            (1, 1, 8192),
        ],
        rough=[(1, 1, 512), (4, 1, 4096), (4, 4, 4096), (8, 2, 1024)],
    ),
    "two": Nest(  # loops beside each other
        """for (int i = 0; i < n; i++) {
        for (int j = 0; j < n; j++) x[j] = a[i][j];
        for (int j = 0; j < n; j++) b[i][j] = x[j] + a[i][j]; }""",
        "double a[n][n], double b[n][n], double *x",
        40,
        near=[
            (1, 1, 2048),
            (4, 1, 16384),
            (4, 4, 4096),
            (8, 2, 65536),
            (2, 2, 8192),
            (4, 4, 512, 1),
        ],
        rough=[(1, 1, 512), (4, 1, 512)],
    ),
    "joined": Nest(  # two loops that fit together, and one that does not fit beside them
        """for (int i = 0; i < n; i++) {
        for (int j = 0; j < 40; j++) x[j] = 1;
        for (int j = 0; j < 40; j++) y[j] += x[j];
        for (int k = 0; k < 400; k++) b[i][k] = 1; }""",
        "double *x, double *y, double b[n][400]",
        16,
        near=[(1, 1, 1024), (1, 1, 2048), (4, 1, 1024), (4, 4, 1024), (1, 1, 65536)],
        rough=[],
    ),
    "private": Nest(  # a row of each thread's own
        """for (int i = 0; i < n; i++) {
        double t[40];
        for (int j = 0; j < 40; j++) t[j] = a[i][j];
        for (int j = 0; j < 40; j++) b[i][j] = t[39 - j]; }""",
        "double a[n][40], double b[n][40]",
        40,
        near=[(1, 1, 2048), (4, 1, 16384), (4, 4, 8192), (8, 2, 8192), (2, 2, 4096), (3, 3, 65536)],
        rough=[(4, 4, 512), (4, 4, 512, 1)],
    ),
    "down": Nest(  # falling loops, every second element
        """for (int i = n-1; i >= 0; i--)
      for (int j = n-1; j >= 0; j -= 2) b[i][j] = a[i][j] + a[i+1][j];""",
        "double a[n+1][n], double b[n][n]",
        40,
        near=[
            (1, 1, 2048),
            (4, 1, 16384),
            (4, 4, 16384),
            (8, 2, 8192),
            (2, 2, 4096),
            (4, 2, 65536, 2),
        ],
        rough=[(4, 1, 512), (4, 4, 2048)],
    ),
    "columns": Nest(  # threads within one line
        """for (int j = 0; j < n; j++)
      for (int i = 0; i < n; i++) a[i][j] = x[i];""",
        "double a[n][n], double *x",
        40,
        near=[(1, 1, 512), (4, 1, 512), (4, 4, 65536), (8, 2, 512), (2, 2, 512), (4, 2, 512, 2)],
        rough=[(1, 1, 4096), (4, 1, 65536)],
    ),
    "collapse": Nest(  # two loops shared out
        """for (int i = 0; i < 6; i++)
      for (int j = 0; j < n; j++)
      for (int k = 0; k < n; k++) a[i][j] += b[j][k];""",
        "double a[6][n], double b[n][n]",
        24,
        near=[(1, 1, 8192), (4, 1, 8192), (4, 4, 8192), (2, 2, 8192), (3, 3, 8192), (1, 1, 65536)],
        rough=[(4, 1, 512), (8, 2, 2048)],
    ),
    "small": Nest(  # a matrix that every iteration reads
        """for (int r = 0; r < n; r++)
      for (int q = 0; q < n; q++)
      for (int p = 0; p < 8; p++)
      for (int s = 0; s < 8; s++) a[r][q][p] += c[s][p];""",
        "double a[n][n][8], double c[8][8]",
        9,
        near=[(1, 1, 2048), (4, 4, 65536), (2, 2, 4096), (3, 3, 8192), (1, 1, 4096), (4, 4, 4096)],
        rough=[(1, 1, 1024), (4, 4, 2048)],
    ),
    "rowsdown": Nest(  # a triangle in a triangle
        """for (int i = 0; i < n; i++)
      for (int j = 0; j < i; j++)
      for (int k = 0; k < j; k++) a[i][j] += a[i][k] * a[j][k];""",
        "double a[n][n]",
        30,
        near=[],
        rough=[(1, 1, 1024), (4, 1, 8192), (4, 4, 4096), (8, 2, 8192)],
    ),
    "rounds": Nest(  # chunks that go round the team: parts of lines, and rows between others'
        """for (int i = 1; i < n-1; i++) b[i] = a[i-1] + a[i] + a[i+1];""",
        "double *a, double *b",
        802,
        near=[
            (1, 1, 4096, 1),
            (4, 1, 4096, 1),
            (4, 4, 4096, 1),
            (4, 1, 4096, 3),
            (8, 2, 4096, 2),
            (4, 4, 1024, 8),
            (4, 1, 65536, 50),
            (3, 1, 4096, 400),
        ],
        rough=[],
    ),
    "k-loop": Nest(  # a window that moves on
        """for (int k = 0; k < 30; k++)
      for (int i = 0; i < n; i++) y[i] += x[i+k];""",
        "double *x, double *y",
        200,
        near=[(1, 1, 512), (4, 1, 4096), (4, 4, 16384), (8, 2, 8192), (2, 2, 16384), (3, 3, 1024)],
        rough=[(4, 4, 512), (8, 2, 512)],
    ),
    "collapsed": Nest(  # chunks of two loops' iterations
        """for (int i = 0; i < 12; i++)
          for (int j = 0; j < n; j++)
            for (int k = 0; k < 24; k++) b[i][j][k] = a[i][j][k] + a[i][j+1][k];""",
        "double a[12][n+1][24], double b[12][n][24]",
        16,
        near=[
            (1, 1, 4096, 1),
            (4, 1, 4096, 1),
            (4, 4, 8192, 1),
            (16, 1, 4096, 1),
            (32, 1, 4096, 1),
            (64, 4, 8192, 1),
            (4, 1, 4096, 2),
            (4, 2, 8192, 4),
            (6, 1, 4096, 32),
            (3, 1, 8192, 48),
            (200, 1, 4096, 1),
        ],
        rough=[],
    ),
}


ROWS = """for (int i = 0; i < n; i++)
  for (int j = 0; j < n; j++) b[i][j] = a[i][j];"""


def lowered(name: str) -> LoopNest:
    nest = NESTS[name]
    clause = "collapse(2)" if name.startswith("collapse") else ""
    return nest_of(nest.loops, f"int n, {nest.arrays}", clause, n=nest.n)
