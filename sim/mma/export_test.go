package mma

// Golden is golden for external tests.
var Golden = golden
