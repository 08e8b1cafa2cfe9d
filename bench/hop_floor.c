/* The floor under a hop: HTTP in, one upstream behind, and nothing that can be left out. Every
 * JSON-RPC id is replaced by a number of ours and put back in the answer, so that the requests of
 * many connections can share the upstream. It checks nothing and believes everybody.
 *
 *   cc -O2 -o hop_floor hop_floor.c
 *   ./hop_floor PORT http://127.0.0.1:PORT/PATH    over a pool of keep-alive connections
 *   ./hop_floor PORT COMMAND [ARGUMENT...]         over the pipes of a child, a line a message
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <spawn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#define MAX_FDS 65536
#define TEXT(literal) ((struct text){literal, sizeof literal - 1})

extern char **environ;

struct text {
    const char *at;
    size_t len;
};

struct buffer {
    char *at;
    size_t start, end, room;
};

struct peer {
    enum { LISTENER, CLIENT, CHILD, SERVER } kind;
    struct buffer in, out;
    /* Of a client the request in flight, which stays in its buffer: there is its id. Of a server
     * the request that it has to answer. */
    uint64_t number;
    size_t length, id_at, id_len;
};

struct http {
    struct text first, headers, body;
    size_t length;
};

static struct peer peers[MAX_FDS]; /* by descriptor */
static int poller;
static int child = -1; /* its stdin */
static int idle[MAX_FDS], idle_count; /* connections to the server */
static struct sockaddr_in server;
static char asking[512]; /* how each request to the server begins */

static void make_room(struct buffer *in, size_t count) {
    if (in->room - in->end >= count) return;
    in->end -= in->start;
    if (in->start) memmove(in->at, in->at + in->start, in->end);
    in->start = 0;
    if (in->room >= 2 * (in->end + count)) return;
    in->room = 2 * (in->end + count);
    in->at = realloc(in->at, in->room);
}

static void append(struct buffer *to, struct text text) {
    make_room(to, text.len);
    memcpy(to->at + to->end, text.at, text.len);
    to->end += text.len;
}

static struct text content(struct buffer *of) {
    return (struct text){of->at + of->start, of->end - of->start};
}

static void take(struct buffer *from, size_t count) {
    from->start += count;
    if (from->start == from->end) from->start = from->end = 0;
}

/* Everything that has come; 0 at its end. A read that leaves room has read it all, but for a
 * hang-up, of which there is no second event. */
static int fill(int fd, struct buffer *in, int hung_up) {
    for (;;) {
        make_room(in, 4096);
        size_t room = in->room - in->end;
        ssize_t got = read(fd, in->at + in->end, room);
        if (got <= 0) return got < 0 && errno == EAGAIN;
        in->end += got;
        if ((size_t)got < room && !hung_up) return 1;
    }
}

static void flush(int fd) {
    struct buffer *out = &peers[fd].out;
    while (out->start < out->end) {
        ssize_t sent = write(fd, out->at + out->start, out->end - out->start);
        if (sent < 0) return; /* an event tells when there is room again */
        take(out, sent);
    }
}

static int watch(int fd, int kind) {
    struct epoll_event event = {EPOLLIN | EPOLLOUT | EPOLLRDHUP | EPOLLET, {.fd = fd}};
    if (fd < 0 || fd >= MAX_FDS) exit(3);
    peers[fd].kind = kind;
    fcntl(fd, F_SETFL, O_NONBLOCK);
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &(int){1}, sizeof(int)); /* not of a pipe */
    epoll_ctl(poller, EPOLL_CTL_ADD, fd, &event);
    return fd;
}

static const char *after_string(const char *quote, const char *end) {
    for (quote++; quote < end && *quote != '"'; quote++) quote += *quote == '\\';
    return quote + 1;
}

/* The value of the message's own "id", not of one further in; nothing, at the end, without one. */
static struct text id_of(struct text message) {
    const char *end = message.at + message.len;
    int depth = 0;
    for (const char *at = message.at, *name; at < end; at++) {
        if (*at == '{' || *at == '[') depth++;
        if (*at == '}' || *at == ']') depth--;
        if (*at != '"') continue;
        name = at;
        at = after_string(name, end);
        if (depth == 1 && at - name == 4 && !memcmp(name, "\"id\"", 4)) {
            at += strspn(at, " ");
            if (*at != ':') continue;
            at += 1 + strspn(at + 1, " ");
            if (*at == '"') return (struct text){at, after_string(at, end) - at};
            return (struct text){at, strcspn(at, ",} \r\n")};
        }
        at--;
    }
    return (struct text){end, 0};
}

static int is(struct text line, const char *name) {
    return !strncasecmp(line.at, name, strlen(name));
}

/* The first message, if it is there to its end. Its headers are kept until the next is read,
 * without those that hold for one connection only. */
static int parse(struct buffer *in, struct http *found) {
    static struct buffer headers;
    struct text all = content(in), line = {all.at, 0};
    const char *end = all.len ? memmem(all.at, all.len, "\r\n\r\n", 4) : NULL;
    if (!end) return 0;
    headers.end = found->body.len = 0;
    for (; line.at < end + 2; line.at += line.len) {
        line.len = (char *)memchr(line.at, '\n', end + 2 - line.at) + 1 - line.at;
        if (line.at == all.at) found->first = line;
        else if (is(line, "content-length:")) found->body.len = strtoul(line.at + 15, NULL, 10);
        else if (!is(line, "host:") && !is(line, "connection:")) append(&headers, line);
    }
    found->headers = content(&headers);
    found->body.at = end + 4;
    found->length = end + 4 - all.at + found->body.len;
    return found->length <= all.len;
}

static void put_message(struct buffer *out, struct text message, struct text id, struct text new) {
    append(out, (struct text){message.at, id.at - message.at});
    append(out, new);
    append(out, (struct text){id.at + id.len, message.at + message.len - id.at - id.len});
}

/* An HTTP message whose body has another id. */
static void put(struct buffer *out, struct http *from, struct text id, struct text new) {
    char length[64];
    size_t count = from->body.len - id.len + new.len;
    append(out, from->first);
    append(out, from->headers);
    append(out, (struct text){length, sprintf(length, "Content-Length: %zu\r\n\r\n", count)});
    put_message(out, from->body, id, new);
}

static int connection(void) {
    if (idle_count) return idle[--idle_count];
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (connect(fd, (struct sockaddr *)&server, sizeof server)) exit(4);
    return watch(fd, SERVER);
}

static void to_server(struct http *request, uint64_t number, struct text id, struct text new) {
    int fd = connection();
    request->first = (struct text){asking, strlen(asking)};
    peers[fd].number = number;
    put(&peers[fd].out, request, id, new);
    flush(fd);
}

/* Flushed once in a round, with what others ask in it. */
static void to_child(struct http *request, struct text id, struct text new) {
    put_message(&peers[child].out, request->body, id, new);
    append(&peers[child].out, TEXT("\n"));
}

static void accepted(int fd) {
    append(&peers[fd].out, TEXT("HTTP/1.1 202 Accepted\r\nContent-Length: 0\r\n\r\n"));
    take(&peers[fd].in, peers[fd].length);
    peers[fd].number = 0;
    flush(fd);
}

/* What the client asks next, if it waits for nothing. */
static void ask(int fd) {
    static uint64_t count;
    struct peer *client = &peers[fd];
    struct http request;
    char digits[24];
    while (!client->number && parse(&client->in, &request)) {
        struct text id = id_of(request.body), new = {digits, 0};
        client->number = ++count * MAX_FDS + fd; /* a later client may have the same descriptor */
        client->length = request.length;
        client->id_at = id.at - client->in.at - client->in.start;
        client->id_len = id.len;
        if (id.len) new.len = sprintf(digits, "%llu", (unsigned long long)client->number);
        if (child < 0) to_server(&request, client->number, id, new);
        else to_child(&request, id, new);
        if (child >= 0 && !id.len) accepted(fd); /* a notification, of which it says nothing */
    }
}

static void answer(uint64_t number, struct http *response) {
    int fd = number % MAX_FDS;
    struct peer *client = &peers[fd];
    if (!number || client->kind != CLIENT || client->number != number) return; /* it hung up */
    struct text theirs = {client->in.at + client->in.start + client->id_at, client->id_len};
    struct text ours = id_of(response->body);
    put(&client->out, response, ours, ours.len ? theirs : ours);
    take(&client->in, client->length);
    client->number = 0;
    flush(fd);
    ask(fd);
}

static void from_child(struct buffer *in) {
    struct http response = {
        TEXT("HTTP/1.1 200 OK\r\n"), TEXT("Content-Type: application/json\r\n"), {0}, 0};
    for (struct text all = content(in); all.len; all = content(in)) {
        const char *end = memchr(all.at, '\n', all.len);
        if (!end) return;
        response.body = (struct text){all.at, end - all.at};
        answer(strtoull(id_of(response.body).at, NULL, 10), &response);
        take(in, end + 1 - all.at);
    }
}

static void from_server(int fd) {
    struct http response;
    if (!parse(&peers[fd].in, &response)) return;
    answer(peers[fd].number, &response);
    take(&peers[fd].in, response.length);
    peers[fd].number = 0;
    idle[idle_count++] = fd;
}

static void hang_up(int fd) {
    struct peer *peer = &peers[fd];
    if (peer->kind == CHILD) exit(0);
    if (peer->kind == SERVER && peer->number) exit(4); /* someone would wait for ever */
    int before = idle_count;
    idle_count = 0;
    for (int i = 0; i < before; i++)
        if (idle[i] != fd) idle[idle_count++] = idle[i];
    peer->in.start = peer->in.end = peer->out.start = peer->out.end = peer->number = 0;
    close(fd);
}

static void happened(int fd, uint32_t events) {
    struct peer *peer = &peers[fd];
    if (peer->kind == LISTENER) {
        for (int one; (one = accept4(fd, NULL, NULL, SOCK_CLOEXEC)) >= 0;) watch(one, CLIENT);
        return;
    }
    flush(fd);
    if (events == EPOLLOUT) return;
    int more = fill(fd, &peer->in, events & (EPOLLRDHUP | EPOLLHUP | EPOLLERR));
    if (peer->kind == CLIENT) ask(fd);
    if (peer->kind == SERVER) from_server(fd);
    if (peer->kind == CHILD) from_child(&peer->in);
    if (!more) hang_up(fd);
}

static void start(char **command) {
    int in[2], out[2];
    posix_spawn_file_actions_t actions;
    if (pipe2(in, O_CLOEXEC) || pipe2(out, O_CLOEXEC)) exit(2);
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, in[0], 0);
    posix_spawn_file_actions_adddup2(&actions, out[1], 1);
    if (posix_spawnp(&(pid_t){0}, *command, &actions, NULL, command, environ)) exit(3);
    close(in[0]);
    close(out[1]);
    child = watch(in[1], CHILD);
    watch(out[0], CHILD);
}

static struct sockaddr_in at(int port) {
    return (struct sockaddr_in){AF_INET, htons(port), {htonl(INADDR_LOOPBACK)}, {0}};
}

int main(int argc, char **argv) {
    struct epoll_event events[1024];
    int port, listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    char path[256] = "/";
    if (argc < 3) return 1;
    signal(SIGPIPE, SIG_IGN);
    poller = epoll_create1(EPOLL_CLOEXEC);
    if (sscanf(argv[2], "http://127.0.0.1:%d%255s", &port, path) > 0) {
        server = at(port);
        sprintf(asking, "POST %s HTTP/1.1\r\nHost: 127.0.0.1:%d\r\n", path, port);
    } else start(argv + 2);
    struct sockaddr_in here = at(atoi(argv[1]));
    setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &(int){1}, sizeof(int));
    if (bind(listener, (struct sockaddr *)&here, sizeof here) || listen(listener, 1024)) return 2;
    watch(listener, LISTENER);
    for (;;) {
        int count = epoll_wait(poller, events, 1024, -1);
        for (int i = 0; i < count; i++) happened(events[i].data.fd, events[i].events);
        if (child >= 0) flush(child);
    }
}
