/* Lists the primes up to a limit. The arguments are in MCP_TOOL_ARGS_JSON: {"limit": N}. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static long limit_in(const char *json) {
    const char *key = json ? strstr(json, "\"limit\"") : NULL;
    const char *colon = key ? strchr(key, ':') : NULL;
    return colon ? strtol(colon + 1, NULL, 10) : 100;
}

static int is_prime(long n) {
    for (long d = 2; d * d <= n; d++)
        if (n % d == 0)
            return 0;
    return n > 1;
}

int main(void) {
    long limit = limit_in(getenv("MCP_TOOL_ARGS_JSON"));
    long count = 0;
    printf("{\"primes\":[");
    for (long n = 2; n <= limit; n++)
        if (is_prime(n))
            printf(count++ ? ",%ld" : "%ld", n);
    printf("],\"count\":%ld}\n", count);
    return 0;
}
