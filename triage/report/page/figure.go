package page

// Figure is a picture with its caption, and the numbers that it shows for those who cannot
// see it or want them; nil: they stand elsewhere.
func Figure(picture HTML, caption string, numbers *Table) HTML {
	if picture == "" {
		return ""
	}
	f := struct {
		Picture HTML
		Caption []piece
		Label   string
		Numbers HTML
	}{Picture: picture, Caption: marked(show(caption)), Label: show(caption)}
	if numbers != nil {
		f.Numbers = Fold("The numbers", numbers.HTML())
	}
	return render("figure", f)
}
