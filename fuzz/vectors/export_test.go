package vectors

// ChooseAmong is chooseAmong for external tests.
var ChooseAmong = chooseAmong
