/* The floor under a script call: spawn the same script COUNT times with at most
 * INFLIGHT at once, read its stdout and stderr to the end, reap it.
 * Prints "p50_us p95_us calls_per_second". With a COUNT of 0, spawns once for every byte
 * on stdin and prints how long each took in microseconds, so that a driver can take turns.
 *
 *   cc -O2 -o spawn_floor spawn_floor.c && ./spawn_floor SCRIPT COUNT INFLIGHT
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

extern char **environ;

struct child {
    pid_t pid;
    int fds[2];
    double started;
};

static double now_us(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * 1e6 + t.tv_nsec / 1e3;
}

static void start(struct child *child, char *script) {
    int out[2], err[2];
    char *argv[] = {script, NULL};
    posix_spawn_file_actions_t actions;
    child->started = now_us();
    if (pipe2(out, O_CLOEXEC) || pipe2(err, O_CLOEXEC)) exit(2);
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_adddup2(&actions, out[1], 1);
    posix_spawn_file_actions_adddup2(&actions, err[1], 2);
    if (posix_spawn(&child->pid, script, &actions, NULL, argv, environ)) exit(3);
    posix_spawn_file_actions_destroy(&actions);
    close(out[1]);
    close(err[1]);
    child->fds[0] = out[0];
    child->fds[1] = err[0];
}

/* Read what is there; at the end of both pipes reap the child and say so. */
static int advance(struct child *child, struct pollfd *polled) {
    char buffer[65536];
    for (int i = 0; i < 2; i++) {
        if (child->fds[i] < 0 || !polled[i].revents) continue;
        if (read(child->fds[i], buffer, sizeof buffer) > 0) continue;
        close(child->fds[i]);
        child->fds[i] = -1;
    }
    if (child->fds[0] >= 0 || child->fds[1] >= 0) return 0;
    waitpid(child->pid, NULL, 0);
    return 1;
}

static int ascending(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void take_turns(char *script) {
    struct child child;
    struct pollfd polled[2];
    char turn;
    while (read(0, &turn, 1) == 1) {
        start(&child, script);
        do {
            for (int i = 0; i < 2; i++) polled[i] = (struct pollfd){child.fds[i], POLLIN, 0};
            poll(polled, 2, -1);
        } while (!advance(&child, polled));
        printf("%.1f\n", now_us() - child.started);
        fflush(stdout);
    }
}

int main(int argc, char **argv) {
    if (argc != 4) return 1;
    int count = atoi(argv[2]), inflight = atoi(argv[3]), begun = 0, ended = 0;
    if (count == 0) return take_turns(argv[1]), 0;
    struct child *children = calloc(inflight, sizeof *children);
    struct pollfd *polled = calloc(2 * inflight, sizeof *polled);
    double *took = calloc(count, sizeof *took), began = now_us();
    for (int i = 0; i < inflight; i++) children[i].fds[0] = children[i].fds[1] = -1;
    for (int i = 0; i < inflight && begun < count; i++, begun++) start(&children[i], argv[1]);
    while (ended < count) {
        for (int i = 0; i < 2 * inflight; i++)
            polled[i] = (struct pollfd){children[i / 2].fds[i % 2], POLLIN, 0};
        poll(polled, 2 * inflight, -1);
        for (int i = 0; i < inflight; i++) {
            if (children[i].fds[0] < 0 && children[i].fds[1] < 0) continue;
            if (!advance(&children[i], &polled[2 * i])) continue;
            took[ended++] = now_us() - children[i].started;
            if (begun < count) start(&children[i], argv[1]), begun++;
        }
    }
    double seconds = (now_us() - began) / 1e6;
    qsort(took, count, sizeof *took, ascending);
    printf("%.1f %.1f %.1f\n", took[count / 2], took[count * 95 / 100], count / seconds);
    return 0;
}
