package minimize

type Mask struct{}
