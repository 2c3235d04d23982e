"""A ping-pong of two ranks, recorded by Score-P, and what Scalasca 2.6 reports of it.

The times are ticks of 1 / 2,095,197,216 s since the first event; eight messages each way, of 16 KiB
to 2 MiB. Source: the test data of pipit (hpcgroup, MIT licence), ping-pong-otf2; the values are
those of the reference's report on it, by rank.
"""

from __future__ import annotations

from regionpredict.trace import EventTrace, Paradigm, Region, Role, TraceBuilder

TICKS_PER_SECOND = 2_095_197_216.0

RANK_0 = """
644757 >program; 706039 >main; 725053 >MPI_Init; 405720564 <; 405738390 >MPI_Comm_size;
405741568 <; 405746788 >MPI_Comm_rank; 405749176 <; 405773126 >MPI_Send; 405782260 send 16384;
405810222 <; 405813258 >MPI_Recv; 405872582 recv 16384; 405879208 <; 405931610 >MPI_Send;
405932768 send 32768; 405974946 <; 405975566 >MPI_Recv; 406016176 recv 32768; 406016774 <;
406102790 >MPI_Send; 406103638 send 65536; 406164310 <; 406164868 >MPI_Recv;
406237080 recv 65536; 406237778 <; 406346814 >MPI_Send; 406347806 send 131072; 406459788 <;
406460242 >MPI_Recv; 406573036 recv 131072; 406573946 <; 406898366 >MPI_Send;
406899254 send 262144; 407102712 <; 407103406 >MPI_Recv; 407324658 recv 262144; 407325666 <;
407883312 >MPI_Send; 407884944 send 524288; 408378010 <; 408378522 >MPI_Recv;
408839324 recv 524288; 408840462 <; 410067786 >MPI_Send; 410069542 send 1048576; 410951550 <;
410952088 >MPI_Recv; 411882112 recv 1048576; 411883230 <; 414038728 >MPI_Send;
414040600 send 2097152; 415910054 <; 415910668 >MPI_Recv; 417614654 recv 2097152; 417615782 <;
418022808 >MPI_Finalize; 418146152 <; 418149494 <; 418208288 <;
"""
RANK_1 = """
0 >program; 63030 >main; 84412 >MPI_Init; 405722025 <; 405740629 >MPI_Comm_size; 405743663 <;
405748099 >MPI_Comm_rank; 405750333 <; 405792125 >MPI_Recv; 405822171 recv 16384; 405832069 <;
405836955 >MPI_Send; 405839211 send 16384; 405867145 <; 405893385 >MPI_Recv;
405975509 recv 32768; 405976085 <; 405976667 >MPI_Send; 405977101 send 32768; 406015199 <;
406071271 >MPI_Recv; 406156347 recv 65536; 406157453 <; 406158595 >MPI_Send;
406159103 send 65536; 406237315 <; 406372978 >MPI_Recv; 406452610 recv 131072; 406453718 <;
406454526 >MPI_Send; 406455066 send 131072; 406573460 <; 406929210 >MPI_Recv;
407095810 recv 262144; 407096898 <; 407097728 >MPI_Send; 407098320 send 262144; 407324914 <;
408065243 >MPI_Recv; 408369421 recv 524288; 408371351 <; 408372321 >MPI_Send;
408372793 send 524288; 408839142 <; 410364007 >MPI_Recv; 410942930 recv 1048576; 410944734 <;
410945578 >MPI_Send; 410946204 send 1048576; 411881888 <; 414747417 >MPI_Recv;
415901024 recv 2097152; 415902796 <; 415903698 >MPI_Send; 415904296 send 2097152; 417614522 <;
418054044 >MPI_Finalize; 418148552 <; 418152752 <; 418210708 <;
"""

# metric -> call path -> the value on each rank
REPORTED: dict[str, dict[str, tuple[float, float]]] = {
    "bytes_rcvd": {
        "main/MPI_Recv": (4177920.0, 4177920.0),
    },
    "bytes_sent": {
        "main/MPI_Send": (4177920.0, 4177920.0),
    },
    "comms_recv": {
        "main/MPI_Recv": (8.0, 8.0),
    },
    "comms_send": {
        "main/MPI_Send": (8.0, 8.0),
    },
    "critical_path": {
        "main": (6.767286578915344e-05, 0.002926673419176601),
        "main/MPI_Comm_rank": (0.0, 1.0662480758039106e-06),
        "main/MPI_Comm_size": (0.0, 1.448073707249753e-06),
        "main/MPI_Init": (0.0, 0.19360354715171593),
        "main/MPI_Recv": (3.9308948757227347e-05, 4.029167247612819e-05),
        "main/MPI_Send": (0.0011382121844132342, 0.0016711777646806203),
    },
    "path_activities": {
        "main": (0.0023843798387331826, 0.0029807924296134897),
        "main/MPI_Comm_rank": (1.0662480758039106e-06, 1.0662480758039106e-06),
        "main/MPI_Comm_size": (1.448073707249753e-06, 1.448073707249753e-06),
        "main/MPI_Init": (0.19329708339971372, 0.19360354715171593),
        "main/MPI_Recv": (7.960062123335554e-05, 7.960062123335554e-05),
        "main/MPI_Send": (0.0011675330519339, 0.0017039775409858071),
    },
    "delay_short.late_receiver": {
        "main": (0.0, 0.0006020481281284136),
        "main/MPI_Init": (0.0, 6.865406446447506e-07),
        "main/MPI_Send": (2.993990232569299e-06, 0.0),
    },
    "delay_short.late_sender": {
        "main": (2.67783860972981e-05, 8.829717726976938e-07),
        "main/MPI_Recv": (6.509172452040524e-06, 1.0952668237973473e-05),
    },
    "wait_finalize": {
        "main/MPI_Finalize": (1.4908381779726865e-05, 0.0),
    },
    "init_completion": {
        "main/MPI_Init": (0.0, 6.973090594108999e-07),
    },
    "late_receiver": {
        "main/MPI_Send": (0.0006027346687730584, 1.782552960402639e-05),
    },
    "late_sender": {
        "main/MPI_Recv": (1.1835640010671167e-05, 3.3287558549338625e-05),
    },
    "instances.late_receiver": {
        "main/MPI_Send": (6.0, 6.0),
    },
    "instances.late_sender": {
        "main/MPI_Recv": (2.0, 2.0),
    },
    "off_path_activities": {
        "program": (5.731011815165944e-05, 5.77444448074309e-05),
        "main/MPI_Comm_rank": (7.350143407802712e-08, 0.0),
        "main/MPI_Comm_size": (6.872861366136185e-08, 0.0),
        "main/MPI_Finalize": (4.3961494076372176e-05, 4.51069709707097e-05),
        "main/MPI_Recv": (0.001633569849111477, 0.0010800630044364712),
    },
    "time": {
        "program": (0.19929557361534792, 0.19960445957369963),
        "main": (0.19923826349719626, 0.1995467151288922),
        "main/MPI_Comm_rank": (1.1397495098819377e-06, 1.0662480758039106e-06),
        "main/MPI_Comm_size": (1.5168023209111148e-06, 1.448073707249753e-06),
        "main/MPI_Finalize": (5.886987585609904e-05, 4.51069709707097e-05),
        "main/MPI_Init": (0.19329708339971372, 0.19360354715171593),
        "main/MPI_Recv": (0.0017250061103555037, 0.0011929511842191654),
        "main/MPI_Send": (0.0017702677207069584, 0.0017218030705898335),
    },
    "visits": {
        "program": (1.0, 1.0),
        "main": (1.0, 1.0),
        "main/MPI_Comm_rank": (1.0, 1.0),
        "main/MPI_Comm_size": (1.0, 1.0),
        "main/MPI_Finalize": (1.0, 1.0),
        "main/MPI_Init": (1.0, 1.0),
        "main/MPI_Recv": (8.0, 8.0),
        "main/MPI_Send": (8.0, 8.0),
    },
}
# The reference counts what locations do before the path begins and after it ends against it, too.
WHOLE_RUN_IMPACT = {
    "main": (4.4188779262463535e-06, 0.00019110484562047695),
    "main/MPI_Init": (0.0, 9.862561972912637e-05),
    "main/MPI_Send": (0.00018847615950884873, 0.000276729744468481),
}
COUNTS = {"late_sender": 4, "late_receiver": 12}


def pingpong() -> EventTrace:
    """The trace as events."""
    build = TraceBuilder(2, TICKS_PER_SECOND)
    build.region(Region("program", Paradigm.OTHER, Role.PROGRAM))
    for rank, text in enumerate((RANK_0, RANK_1)):
        for item in text.replace("\n", " ").split(";"):
            if not item.strip():
                continue
            ticks, what, *size = item.split()
            time = int(ticks) / TICKS_PER_SECOND
            if what == "<":
                build.leave(rank, time)
            elif what == "send":
                build.send(rank, time, 1 - rank, 0, int(size[0]))
            elif what == "recv":
                build.receive(rank, time, 1 - rank, 0, int(size[0]))
            else:
                build.enter(rank, time, what[1:])
    return build.build("pingpong")
