#!/bin/bash -eu
# What OSS-Fuzz and ClusterFuzzLite build: the fast models against the oracle, with
# inputs to begin with. They set OUT, CXX, CXXFLAGS and LIB_FUZZING_ENGINE.
# .ci/nightly libfuzzer does the same without their container.
fuzz/harness/libfuzzer/build "$OUT/models"
seeds=$(mktemp -d)
CGO_ENABLED=0 go run -tags nogpu ./cmd/mmafuzz corpus export --out "$seeds"
rm -f "$OUT/models_seed_corpus.zip"
zip -qjr "$OUT/models_seed_corpus.zip" "$seeds"
rm -r "$seeds"
