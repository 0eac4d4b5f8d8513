// SPDX-License-Identifier: Apache-2.0

package sweep

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/mad"
	"example.org/ibconsole/mad/sa"
)

// PathSLs are the SLs that the subnet administration grants.
type PathSLs struct {
	// SLs are nil where some pairs have no path record.
	SLs fabric.PathSLs
	// Asked is how many path records were asked for, of Pairs of end ports and LIDs.
	Asked, Pairs int
	// Without counts the pairs that have no record, as they share no partition, and
	// Example names one.
	Without int
	Example string
}

var (
	// ErrManySLs says that the SLs of a large subnet differ between hosts of the same
	// switch.
	ErrManySLs = errors.New("the service levels differ between hosts of the same switch, and there are too many " +
		"paths to ask for each")
	// ErrDrawnSLs says that a pair gets another SL each time, as from OpenSM's dfsssp.
	ErrDrawnSLs = errors.New("asked twice, the subnet administration grants a path different service levels, as with " +
		"dfsssp (try: engine from=FILE; calibrate)")
)

const (
	// everyPair is up to how many pairs each is asked for.
	everyPair = 1 << 15
	// mostPairs is up to how many it is where SLs differ between hosts of a switch.
	mostPairs = 1 << 20
	// samplePairs is how many pairs are asked for once more.
	samplePairs = 1 << 12
	// saWindow is how many questions the subnet administration has at a time.
	saWindow = 16
)

// AskPathSLs asks the subnet administration for the SLs of the paths between all end ports
// of f, on large subnets once for each pair of switches, and then for a sample of
// pairs. Where one of those has another SL it asks for all. It returns an error
// that wraps [ErrManySLs] where they are too many, or [ErrDrawnSLs].
func AskPathSLs(ctx context.Context, c *sa.Client, f *fabric.Fabric, progress func(done, total int)) (*PathSLs, error) {
	a := slAsker{c: c, f: f, progress: progress}
	a.ends()
	pairs := (len(a.sources) - 1) * len(a.lids)
	out, err := a.settled(ctx, pairs)
	if err != nil {
		return nil, fmt.Errorf("ask for the service levels of paths: %w", err)
	}
	res := &PathSLs{Asked: a.asked, Pairs: pairs, Without: a.without, Example: a.example}
	if a.without == 0 {
		res.SLs = out
	}
	return res, nil
}

// settled asks for the SLs until a sample of pairs has those that were told before.
func (a *slAsker) settled(ctx context.Context, pairs int) (*fabric.SLTable, error) {
	for together := pairs > everyPair; ; together = false {
		t, err := a.by(ctx, together)
		if err != nil {
			return nil, err
		}
		same, err := a.again(ctx, t)
		switch {
		case err != nil:
			return nil, err
		case same:
			return t, nil
		case !together:
			return nil, ErrDrawnSLs
		case pairs > mostPairs:
			return nil, fmt.Errorf("%w (%d)", ErrManySLs, pairs)
		}
	}
}

type slAsker struct {
	c        *sa.Client
	f        *fabric.Fabric
	progress func(done, total int)
	// sources are the end ports with a LID, and lids all that they have.
	sources []fabric.PortIndex
	lids    []uint16

	asked, without int
	example        string
}

func (a *slAsker) ends() {
	for _, p := range a.f.EndPorts {
		port := &a.f.Ports[p]
		if port.LID == 0 || !a.f.Nodes[port.Node].InSubnet {
			continue
		}
		a.sources = append(a.sources, p)
		for l := int(port.LID); l < int(port.LID)+1<<port.LMC && l <= int(a.f.MaxLID); l++ {
			if a.f.PortByLID(uint16(l)) == p {
				a.lids = append(a.lids, uint16(l))
			}
		}
	}
}

// place is what the paths of hosts have in common: their switch, and which of a port's
// LIDs it is. The port of a switch itself is a place of its own.
type place struct {
	sw     fabric.SwitchIndex
	end    fabric.PortIndex
	offset uint16
}

func (a *slAsker) place(p fabric.PortIndex, lid uint16, together bool) place {
	at := place{fabric.None, p, lid - a.f.Ports[p].LID}
	if sw, _ := a.f.AttachedSwitch(p); together && sw != fabric.None && a.f.Ports[p].Num != 0 {
		at.sw, at.end = sw, fabric.None
	}
	return at
}

// groups numbers the places of LIDs.
func (a *slAsker) groups(lids []uint16, together bool) (of []int32, examples [][]uint16) {
	of = make([]int32, int(a.f.MaxLID)+1)
	for i := range of {
		of[i] = fabric.None
	}
	at := map[place]int32{}
	for _, lid := range lids {
		k := a.place(a.f.PortByLID(lid), lid, together)
		n, ok := at[k]
		if !ok {
			n = int32(len(examples))
			at[k], examples = n, append(examples, nil)
		}
		of[lid] = n
		if len(examples[n]) < 2 {
			examples[n] = append(examples[n], lid)
		}
	}
	return of, examples
}

// by asks once for each pair of places, of end ports or together of switches.
func (a *slAsker) by(ctx context.Context, together bool) (*fabric.SLTable, error) {
	var first []uint16
	for _, p := range a.sources {
		first = append(first, a.f.Ports[p].LID)
	}
	from, sources := a.groups(first, together)
	to, destinations := a.groups(a.lids, together)
	for _, p := range a.sources { // paths from the further LIDs of a port are those from its first
		port := &a.f.Ports[p]
		for l := int(port.LID) + 1; l < int(port.LID)+1<<port.LMC && l < len(from); l++ {
			from[l] = from[port.LID]
		}
	}
	t := fabric.NewSLTable(from, to, len(sources), len(destinations))
	cols := len(destinations)
	pair := func(i int) (src, dst uint16) { return a.apart(sources[i/cols], destinations[i%cols]) }
	return t, a.each(ctx, len(sources)*cols, pair, func(i int, sl uint8) { t.Set(i/cols, i%cols, sl) })
}

// apart is a pair of different ports out of two groups, LID 0 if there is none.
func (a *slAsker) apart(from, to []uint16) (src, dst uint16) {
	for _, src := range from {
		for _, dst := range to {
			if a.f.PortByLID(src) != a.f.PortByLID(dst) {
				return src, dst
			}
		}
	}
	return 0, 0
}

// again asks for pairs drawn at random, and reports whether they have the SLs that the
// table has for their places.
func (a *slAsker) again(ctx context.Context, t *fabric.SLTable) (bool, error) {
	rnd := rand.New(rand.NewPCG(1, uint64(len(a.lids))))
	var drawn [][2]uint16
	for range samplePairs {
		src, dst := a.sources[rnd.IntN(len(a.sources))], a.lids[rnd.IntN(len(a.lids))]
		if a.f.PortByLID(dst) != src {
			drawn = append(drawn, [2]uint16{a.f.Ports[src].LID, dst})
		}
	}
	same := true
	err := a.each(ctx, len(drawn), func(i int) (src, dst uint16) {
		return drawn[i][0], drawn[i][1]
	}, func(i int, sl uint8) {
		same = same && sl == t.SL(drawn[i][0], drawn[i][1])
	})
	return same, err
}

// each asks for the path records of n pairs. One from LID 0 is left out.
func (a *slAsker) each(ctx context.Context, n int, pair func(i int) (src, dst uint16),
	got func(i int, sl uint8)) error {
	batch := a.c.MAD.NewBatch(ctx)
	next, done := 0, 0
	var failed error
	var ask func()
	ask = func() {
		for next < n && failed == nil {
			i := next
			next++
			src, dst := pair(i)
			if src == 0 {
				done++
				continue
			}
			q := sa.PathRecord{SLID: src, DLID: dst, NumPath: 1}
			a.asked++
			batch.Go(a.c.Request(mad.MethodGet, &q, sa.PathSLID|sa.PathDLID|sa.PathNumPath, 0), func(r *mad.Reply) {
				records, err := sa.Records[sa.PathRecord](r)
				switch {
				case errors.Is(err, sa.NoRecords):
					a.lacks(src, dst)
				case err != nil && failed == nil:
					failed = err
				case err == nil:
					got(i, records[0].SL)
				}
				if done++; a.progress != nil {
					a.progress(done, n)
				}
				ask()
			})
			return
		}
	}
	for range saWindow {
		ask()
	}
	if err := batch.Wait(); err != nil {
		return err
	}
	return failed
}

func (a *slAsker) lacks(src, dst uint16) {
	if a.without++; a.without == 1 {
		a.example = fmt.Sprintf("%s to %s", a.f.PortName(a.f.PortByLID(src)), a.f.PortName(a.f.PortByLID(dst)))
	}
}
