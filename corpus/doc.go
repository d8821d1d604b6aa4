// Package corpus reads and writes what outlives a run: recordings and bundles.
// It computes nothing.
//
// # Recordings
//
// A recording is the results of a target on inputs that it carries itself, so that
// it outlives any change of the generators, with where they came from. RecordingWriter
// writes one, a section for each instruction, such that what is on disk is good
// at any moment; ReadRecording reads it and refuses damage. The format is
// described in recording.go. HWFile reads the text files in which Khattak and
// Mikaitis (arXiv:2512.07004) published results of real GPUs.
//
// # Bundles
//
// A bundle is a directory with all about one finding, made to be attached to a
// bug report: WriteBundle, ReadBundle. The described files are checked against a
// MANIFEST; others, such as pictures, are added by the writer.
//
// # Versions
//
// Both formats begin with a version. A reader takes the versions that it knows
// and refuses a later one with a message that says so; fields are added, not
// changed.
package corpus
