package mma

var powerForms = []form{}

var power = []decl{}
