package madeup

import "github.com/mmafuzz/mmafuzz/sim/mma"

// shapeStream is the stream of random numbers that shapes are drawn from. It is one of its
// own, as that of refinements is, so that units without a shape stay as they were. 871 was
// chosen so that the seeds of shapes in the table of package selfcheck have a small K and are
// quick to measure.
const shapeStream = 0x7368_6170_65 + 871

// shapedPercent is the percentage of made-up units that have lanes or groups that are added
// in an order of their own.
const shapedPercent = 6

// reshape gives some units another shape.
func reshape(s sampler, i *mma.Instruction) {
	if !s.chance(shapedPercent) {
		return
	}
	drawParts(s, i, pick(s, 1, 1, 2), drawings)
}

// drawings draw one part of a shape each. What they draw need not be valid.
var drawings = []func(s sampler, i *mma.Instruction){
	drawMerge, drawMerge, drawTail, drawLeaf, drawLeaf,
	func(s sampler, i *mma.Instruction) {
		st := drawSum(s, i)
		st.Deep, st.Group = true, pick[uint8](s, 2, 2, 4)
	},
	func(s sampler, i *mma.Instruction) {
		st := drawSum(s, i)
		st.Sum, st.Sort = pick(s, mma.Sequential, mma.Sequential, mma.Pairwise, mma.PairHalves), pick(s, mma.Rising, mma.Falling)
	},
}

// drawSum returns one of the stages; if there is none it draws one.
func drawSum(s sampler, i *mma.Instruction) *mma.Stage {
	p := &i.Params
	if p.Stage0.Sum == mma.Off {
		p.Stage0 = drawStage(s, i.Formats)
	}
	if p.Stage1.Sum == mma.Off {
		return &p.Stage0
	}
	return pick(s, &p.Stage0, &p.Stage1)
}

// drawLanes gives several lanes to a unit that has only one.
func drawLanes(s sampler, i *mma.Instruction) {
	if p := &i.Params; p.Lanes <= 1 {
		p.Lanes = pick[uint8](s, 3, 4, 4, 8, 16)
		p.Late = p.Acc
	}
}

func drawMerge(s sampler, i *mma.Instruction) {
	drawLanes(s, i)
	n := i.Params.Merged()
	if n < 3 {
		return
	}
	switch s.IntN(3) {
	case 0:
		i.Params.Merge = mma.MergeHalves(n)
	case 1:
		i.Params.Merge = mma.MergeNeighbours(n)
	default:
		all := mma.MergeNeighbours(n).Distances()
		s.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
		i.Params.Merge = mma.MergeBy(all...)
	}
}

func drawTail(s sampler, i *mma.Instruction) {
	drawLanes(s, i)
	n := int(i.Params.Lanes)
	i.Params.Tail = i.K > n && i.K%n != 0
}

// drawLeaf draws a place for c among the terms.
func drawLeaf(s sampler, i *mma.Instruction) {
	p := &i.Params
	p.Leaf = pick(s, mma.LeafFirst, mma.LeafLast, mma.SumFirst, mma.SumLast)
	p.Special.CLeft = false
	if p.Start == mma.StartC {
		p.Join = mma.Join{Align: p.Join.Align, Post: p.Join.Post}
		drawSum(s, i)
	} else {
		drawLanes(s, i)
	}
}
