package mma

var armForms = []form{}

var arm = []decl{}
