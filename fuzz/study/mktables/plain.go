package main

// minimizer has a row for each pair of which findings were shrunk.
func minimizer(file string) (string, error) {
	cells, err := rows(file)
	if err != nil {
		return "", err
	}
	for _, c := range cells {
		c[0], c[1] = code(c[0]), code(c[1])
	}
	head := []string{"A", "B", "findings", "terms before", "after", "queries", "batches", "worst", "1-minimal"}
	return markdown("llr", head, cells), nil
}

// models has a row for each operation whose models were compared with the oracle.
func models(file string) (string, error) {
	cells, err := rows(file)
	if err != nil {
		return "", err
	}
	for _, c := range cells {
		c[0] = code(c[0])
	}
	head := []string{"operation", "arithmetics", "dot products of raw bits", "of the other generators", "mismatches"}
	return markdown("lr", head, cells), nil
}

// silicon has a row for each recorded instruction of a GPU.
func silicon(file string) (string, error) {
	cells, err := rows(file)
	if err != nil {
		return "", err
	}
	for _, c := range cells {
		c[1], c[2] = code("sim:"+c[1]), code(c[2])
	}
	return markdown("lllr", []string{"GPU", "model", "instruction", "recorded", "equal"}, cells), nil
}
