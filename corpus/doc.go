// Package corpus reads and writes what outlives a run: recordings and the plans that
// they are made by, bundles, and lists of known differences. It computes nothing.
//
// # Recordings
//
// A recording is the results of a target on inputs that it carries itself, so that
// it outlives any change of the generators, with where they came from. RecordingWriter
// writes one, a section for each instruction, such that what is on disk is good at any
// moment; ReadRecording reads it and refuses damage; RecordingFile resumes one that
// was cut short. The format is described at Recording. HWFile reads the text files
// in which Khattak and Mikaitis (arXiv:2512.07004) published results of real GPUs.
//
// A Plan says what to record. Those that come with the program are in plans, beside
// a script for clusters with Slurm; package record does what they say. The recordings
// of real machines that the tests use are in recordings.
//
// # Known differences
//
// A Known is a list of differences that a nightly comparison does not report as new.
//
// # Bundles
//
// A bundle is a directory with all about one finding, made to be attached to a
// bug report: WriteBundle, ReadBundle. The described files are checked against a
// MANIFEST; others, such as pictures, are added by the writer.
//
// # Files of strangers
//
// A file that anybody may have made is read with Open: regular files only, of a size that is
// checked before and while they are read. What a crash of the machine leaves of a file
// that was being written - its length, and zeros - is taken for its end (Log,
// RecordingFile). Replace writes what takes another file's place; RemoveStale removes
// what killed processes have left of that.
//
// # Versions
//
// All formats begin with a version. A reader takes the versions that it knows
// and refuses a later one with a message that says so; fields are added, not
// changed. Plans and lists of known differences, which people write, are refused if
// they have a field that the reader does not know.
//
// Versions are digests of what results depend on besides formats of files. Journals and
// recordings with other digests are not continued; recordings and bundles, which carry
// their inputs, are still read, and whatever uses them reports that another version made
// them.
//
// The API of this package is not promised: it may change in any version.
package corpus
