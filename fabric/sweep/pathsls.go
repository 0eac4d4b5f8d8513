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

// PathSLs holds the SLs of paths that the subnet administration (SA) returned in path records.
type PathSLs struct {
	// SLs is nil if some pairs have no path record.
	SLs fabric.PathSLs
	// Asked is the number of requested path records. Pairs is the number of pairs of a source end port and a
	// destination LID.
	Asked, Pairs int
	// Without is the number of requested pairs that have no path record. The ports of such a pair share no partition.
	// Example is one of these pairs.
	Without int
	Example string
}

var (
	// ErrManySLs reports that the SLs differ between hosts of the same switch, and that the subnet has too many pairs
	// to read each.
	ErrManySLs = errors.New("the service levels differ between hosts of the same switch, and the subnet has " +
		"too many paths to read every service level")
	// ErrRandomSLs reports that repeated requests for a pair return different SLs, as with OpenSM's dfsssp.
	ErrRandomSLs = errors.New("repeated requests for a path return different service levels, as with OpenSM's dfsssp")
)

const (
	// everyPair is the maximum number of pairs for which all pairs are requested at once.
	everyPair = 1 << 15
	// mostPairs is the maximum number of pairs for which all pairs are requested if SLs differ between hosts of a
	// switch.
	mostPairs = 1 << 20
	// samplePairs is the number of random pairs that are requested again as a check.
	samplePairs = 1 << 12
	// saWindow is the number of concurrent requests to the SA.
	saWindow = 16
)

// AskPathSLs reads the SLs of the paths between all end ports of f from the SA. On large subnets it sends one request
// for each pair of switches, and then verifies a sample of pairs. If a pair of the sample has a different SL,
// AskPathSLs reads all pairs. The error wraps [ErrManySLs] if there are too many pairs, or [ErrRandomSLs] if repeated
// requests differ.
func AskPathSLs(ctx context.Context, c *sa.Client, f *fabric.Fabric, progress func(done, total int)) (*PathSLs, error) {
	a := slReader{c: c, f: f, progress: progress}
	a.ends()
	pairs := (len(a.sources) - 1) * len(a.lids)
	out, err := a.consistent(ctx, pairs)
	if err != nil {
		return nil, fmt.Errorf("read the service levels of paths: %w", err)
	}
	res := &PathSLs{Asked: a.asked, Pairs: pairs, Without: a.without, Example: a.example}
	if a.without == 0 {
		res.SLs = out
	}
	return res, nil
}

// consistent reads the SLs and verifies them with a sample of pairs. If the sample differs after one request per pair
// of switches, it reads all pairs.
func (a *slReader) consistent(ctx context.Context, pairs int) (*fabric.SLTable, error) {
	for together := pairs > everyPair; ; together = false {
		t, err := a.readTable(ctx, together)
		if err != nil {
			return nil, err
		}
		same, err := a.verifySample(ctx, t)
		switch {
		case err != nil:
			return nil, err
		case same:
			return t, nil
		case !together:
			return nil, ErrRandomSLs
		case pairs > mostPairs:
			return nil, fmt.Errorf("%w (%d)", ErrManySLs, pairs)
		}
	}
}

type slReader struct {
	c        *sa.Client
	f        *fabric.Fabric
	progress func(done, total int)
	// sources holds the end ports that have a LID. lids holds all LIDs of these ports.
	sources []fabric.PortIndex
	lids    []uint16

	asked, without int
	example        string
}

func (a *slReader) ends() {
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

// pathClass identifies a set of LIDs whose paths are expected to have the same SLs. The LIDs belong to hosts of the
// same switch and have the same offset within their ports. The port of a switch itself forms a class of its own.
type pathClass struct {
	sw     fabric.SwitchIndex
	end    fabric.PortIndex
	offset uint16
}

func (a *slReader) classOf(p fabric.PortIndex, lid uint16, together bool) pathClass {
	at := pathClass{fabric.None, p, lid - a.f.Ports[p].LID}
	if sw, _ := a.f.AttachedSwitch(p); together && sw != fabric.None && a.f.Ports[p].Num != 0 {
		at.sw, at.end = sw, fabric.None
	}
	return at
}

// groups numbers the classes of LIDs. It returns the class of each LID, and up to two example LIDs of each class.
func (a *slReader) groups(lids []uint16, together bool) (of []int32, examples [][]uint16) {
	of = make([]int32, int(a.f.MaxLID)+1)
	for i := range of {
		of[i] = fabric.None
	}
	at := map[pathClass]int32{}
	for _, lid := range lids {
		k := a.classOf(a.f.PortByLID(lid), lid, together)
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

// readTable reads the SLs and sends one request for each pair of classes. If the argument together is set, the end
// ports of a switch form a class, otherwise each end port forms one.
func (a *slReader) readTable(ctx context.Context, together bool) (*fabric.SLTable, error) {
	var first []uint16
	for _, p := range a.sources {
		first = append(first, a.f.Ports[p].LID)
	}
	from, sources := a.groups(first, together)
	to, destinations := a.groups(a.lids, together)
	for _, p := range a.sources { // paths from further LIDs of a port equal those from its first
		port := &a.f.Ports[p]
		for l := int(port.LID) + 1; l < int(port.LID)+1<<port.LMC && l < len(from); l++ {
			from[l] = from[port.LID]
		}
	}
	t := fabric.NewSLTable(from, to, len(sources), len(destinations))
	cols := len(destinations)
	pair := func(i int) (src, dst uint16) { return a.differentPorts(sources[i/cols], destinations[i%cols]) }
	return t, a.each(ctx, len(sources)*cols, pair, func(i int, sl uint8) { t.Set(i/cols, i%cols, sl) })
}

// differentPorts returns a LID from each of two groups such that the LIDs belong to different ports. It returns 0, 0 if
// there are no such LIDs.
func (a *slReader) differentPorts(from, to []uint16) (src, dst uint16) {
	for _, src := range from {
		for _, dst := range to {
			if a.f.PortByLID(src) != a.f.PortByLID(dst) {
				return src, dst
			}
		}
	}
	return 0, 0
}

// verifySample reads random pairs and reports whether their SLs equal those of their classes in t.
func (a *slReader) verifySample(ctx context.Context, t *fabric.SLTable) (bool, error) {
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

// each reads the path records of n pairs. It skips pairs with source LID 0.
func (a *slReader) each(ctx context.Context, n int, pair func(i int) (src, dst uint16),
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
					a.countMissing(src, dst)
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

func (a *slReader) countMissing(src, dst uint16) {
	if a.without++; a.without == 1 {
		a.example = fmt.Sprintf("%s to %s", a.f.PortName(a.f.PortByLID(src)), a.f.PortName(a.f.PortByLID(dst)))
	}
}
