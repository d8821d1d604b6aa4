// Package corpus reads and writes what outlives a run: recordings and the plans that
// they are made from, bundles, and lists of known differences. It computes nothing.
//
// # Recordings
//
// A recording holds the results of a target together with the inputs, so that later
// changes to the generators do not invalidate it, and says where the inputs came from.
// RecordingWriter writes one, a section for each instruction, such that what is on disk
// is valid at every moment; ReadRecording reads it and rejects damaged files;
// RecordingFile resumes one that was cut short. The format is described at Recording.
// HWFile reads the text files in which Khattak and Mikaitis (arXiv:2512.07004) published
// results of real GPUs.
//
// A Plan describes what to record. Those that come with the program are in plans, beside
// a script for clusters with Slurm; package record carries them out. The recordings
// that the tests use, of real machines and of simulators such as Spike, are in recordings.
//
// Package journal keeps what a command has done, so that the same command goes on from there.
//
// Test vectors, for use by other programs, are in package vectors; their JSON Schema is in
// schema.
//
// # Known differences
//
// A Known is a list of differences that a nightly comparison does not report as new.
//
// # Bundles
//
// A bundle is a directory with everything about one finding, made to be attached to a
// bug report: WriteBundle, ReadBundle. MANIFEST has the checksum of every file, including
// those that the writer adds, such as pictures. ReadBundle refuses changed and missing files,
// and files that MANIFEST does not list although this program writes files of such names. Other
// files, such as notes, may be added: they are never read, but named in Bundle.Added. Litter
// (IsLitter) is ignored.
//
// # Inputs of fuzzing engines
//
// ReadInputs and WriteInput know the files of go test -fuzz, go-fuzz and libFuzzer. What the
// bytes mean is up to package gen.
//
// # Files of strangers
//
// A file that anybody may have made is read with Open: regular files only, of a size that
// is checked before and while it is read. If the machine crashes, a file may keep its new
// length but end in zeros. Journals and RecordingFile treat the zeros as the end of the file.
// Replace writes a new file and then puts it in place of the old one; RemoveStale removes
// temporary files that killed processes left behind.
//
// # Versions
//
// All formats begin with a version. A reader takes the versions that it knows
// and refuses a later one with a message that says so; fields are added, not
// changed. Plans and lists of known differences, which people write, are refused if
// they have a field that the reader does not know.
//
// The type Versions is something else: digests of the catalogue, the generators and the
// number formats, on which results depend. Journals and recordings with other digests are
// not continued; recordings and bundles, which carry their inputs, are still read, and
// whatever uses them reports that another version made them.
//
// The API of this package is not promised: it may change in any version.
package corpus
