/* The least of <signal.h>: Linux's numbers. */
#ifndef REGIONPREDICT_SIGNAL_H
#define REGIONPREDICT_SIGNAL_H

#include <sys/types.h>

typedef int sig_atomic_t;
typedef void (*sighandler_t)(int);
typedef void (*__sighandler_t)(int);
typedef struct {
    unsigned long value[16];
} sigset_t;
typedef struct {
    int si_signo;
    int si_errno;
    int si_code;
    int padding;
    void *si_addr;
} siginfo_t;
struct sigaction {
    void (*sa_handler)(int);
    void (*sa_sigaction)(int, siginfo_t *, void *);
    sigset_t sa_mask;
    int sa_flags;
};

#define SIG_DFL ((sighandler_t)0)
#define SIG_IGN ((sighandler_t)1)
#define SIG_ERR ((sighandler_t)-1)
#define SIGHUP 1
#define SIGINT 2
#define SIGQUIT 3
#define SIGILL 4
#define SIGTRAP 5
#define SIGABRT 6
#define SIGBUS 7
#define SIGFPE 8
#define SIGKILL 9
#define SIGUSR1 10
#define SIGSEGV 11
#define SIGUSR2 12
#define SIGPIPE 13
#define SIGALRM 14
#define SIGTERM 15
#define SIGCHLD 17
#define SIGCONT 18
#define SIGSTOP 19
#define SA_SIGINFO 4
#define SA_RESTART 0x10000000

#ifdef __cplusplus
extern "C" {
#endif
sighandler_t signal(int number, sighandler_t handler);
int raise(int number);
int kill(pid_t process, int number);
int sigaction(int number, const struct sigaction *action, struct sigaction *before);
int sigemptyset(sigset_t *set);
int sigfillset(sigset_t *set);
int sigaddset(sigset_t *set, int number);
int sigdelset(sigset_t *set, int number);
int sigprocmask(int how, const sigset_t *set, sigset_t *before);
#ifdef __cplusplus
}
#endif

#endif
