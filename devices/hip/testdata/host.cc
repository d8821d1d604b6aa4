// Runs the text of the kernels on the host, lane by lane. What lanes exchange
// goes through the program that drives this one: it gets the registers with which
// each lane of each wave came to the matrix instruction, and answers with those
// of D; then the lanes run again.
//
// stdin: kernel, tiles, waves, lanes, words of in, words of out, in, out; D
// stdout: for each lane of each wave, the number of words of a, b, c and of what
// else the builtin is given, and these words; out
#include <stdio.h>
#include <stdlib.h>

typedef unsigned int word;

static word lane_id, wave_id;
static word *trace; // of a lane: four counts, then words
static const word *answer; // D of a lane, null in the first run

static word __builtin_amdgcn_workitem_id_x() { return lane_id; }
static word __builtin_amdgcn_workgroup_id_x() { return wave_id; }

template <class T> static word *put(word *to, const T &v, word &count) {
    count = sizeof(T) < 4 ? 1 : sizeof(T) / 4;
    if (sizeof(T) < 4)
        *to = *(const unsigned char *)&v;
    else
        __builtin_memcpy(to, &v, sizeof v);
    return to + count;
}

template <class A, class B, class C, class... R> static C matrix(const A &a, const B &b, const C &c, R... rest) {
    word *to = trace + 4;
    to = put(to, a, trace[0]);
    to = put(to, b, trace[1]);
    to = put(to, c, trace[2]);
    trace[3] = 0;
    ((to = put(to, rest, trace[3])), ...);
    trace[3] = sizeof...(rest);
    C d = c;
    if (answer)
        __builtin_memcpy(&d, answer, sizeof d);
    return d;
}

// An attribute that functions of the host cannot have.
#define amdgpu_flat_work_group_size(...) unused
#include "kernels.inc"

static void get(void *p, size_t words) {
    if (fread(p, 4, words, stdin) != words)
        exit(3);
}

static word *array(size_t words) { return (word *)calloc(words, 4); }

int main() {
    enum { most = 4 + 4 * 64 };
    word head[6];
    while (fread(head, 4, 6, stdin) == 6) {
        const word tiles = head[1], waves = head[2], lanes = head[3], words = lanes * waves;
        word *in = array(head[4]), *out = array(head[5]), *scratch = array(head[5]), *traces = array((size_t)words * most);
        get(in, head[4]);
        get(out, head[5]);
        for (int run = 0; run < 2; run++) {
            for (wave_id = 0; wave_id < waves; wave_id++)
                for (lane_id = 0; lane_id < lanes; lane_id++) {
                    trace = traces + (size_t)(wave_id * lanes + lane_id) * most;
                    word d[64] = {};
                    answer = 0;
                    if (run) {
                        get(d, trace[2]);
                        answer = d;
                    }
                    kernel_table[head[0]](in, run ? out : scratch, tiles);
                }
            for (word l = 0; !run && l < words; l++) {
                const word *t = traces + (size_t)l * most;
                fwrite(t, 4, 4 + t[0] + t[1] + t[2] + t[3], stdout);
            }
            fflush(stdout);
        }
        fwrite(out, 4, head[5], stdout);
        fflush(stdout);
        free(in), free(out), free(scratch), free(traces);
    }
}
