// SPDX-License-Identifier: Apache-2.0

// Package servicelevels finds whether hosts get the service levels that a routing needs.
package servicelevels

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/mad/sa"
	"example.org/ibconsole/routing/checks/credits"
	"example.org/ibconsole/shell/session/connection"
)

// Proof says where the service levels of a routing come from once it is written.
// Hosts get them from the subnet administration, and a commit brings none.
type Proof struct {
	// Origin is that of the tables.
	Origin string
	// Asked is how many path records the master's subnet administration was asked
	// for, of Pairs that there are, and Granted how many have the SL that the
	// routing needs. Asked is 0 where there is no master.
	Asked   int
	Granted int
	Pairs   int64
	// Refused is an example of the others, in words, "" for none.
	Refused string
	// Plain says that the routing is free of credit loops with SL 0 everywhere. Nobody
	// looked where all that was asked for is granted.
	Plain bool
}

// AllGranted reports whether the subnet administration grants what the routing needs.
func (l *Proof) AllGranted() bool { return l.Asked > 0 && l.Granted == l.Asked }

// Safe reports whether the routing does not deadlock with the SLs that hosts get.
func (l *Proof) Safe() bool { return l.AllGranted() || l.Plain }

// Error says that a routing is free of deadlock by service levels alone, which
// hosts do not get.
type Error struct{ Proof Proof }

func (e *Error) Error() string {
	return fmt.Sprintf("the routes of %s are free of credit loops by their service levels alone, and hosts get those "+
		"from the subnet administration: %s. "+
		"With SL 0 everywhere they have credit loops (try: handover DIR, for the subnet manager to route so)",
		e.Proof.Origin, e.Proof.Why())
}

// Why says what the subnet administration grants.
func (l *Proof) Why() string {
	switch {
	case l.Asked == 0 && l.Refused != "":
		return l.Refused
	case l.Asked == 0:
		return "there is none, as no subnet manager is master"
	case l.AllGranted() && int64(l.Asked) == l.Pairs:
		return fmt.Sprintf("it grants them in all %d path records", l.Asked)
	case l.AllGranted():
		return fmt.Sprintf("it grants them in all %d path records asked for, of %d pairs", l.Asked, l.Pairs)
	}
	return fmt.Sprintf("it grants them in %d of %d path records, and not in that of %s", l.Granted, l.Asked, l.Refused)
}

// Prove finds out whether tables that need service levels can be written: where the
// subnet administration grants the SLs, or where there are no credit loops with
// SL 0 everywhere on the VLs that there are then. nil is returned for tables that
// need none.
func Prove(ctx context.Context, conn *connection.Connection, live, staged *fabric.Tables, master bool,
	progress func(done, total int)) (*Proof, error) {
	if staged.SLs == nil {
		return nil, nil
	}
	l := &Proof{Origin: staged.Origin}
	if master {
		if err := l.Ask(ctx, conn, live, staged, progress); err != nil {
			return nil, err
		}
		if l.AllGranted() {
			return l, nil
		}
	}
	plain := *staged
	plain.SLs, plain.Unread = nil, fabric.Unread{}
	if plain.SL2VL == nil && live.SL2VL != nil && fabric.Same(live.Fabric, staged.Fabric) {
		plain.SL2VL = live.SL2VL
	}
	res, err := credits.Check(ctx, &plain, credits.Options{})
	if err != nil {
		return nil, err
	}
	l.Plain = res.Ring == nil
	return l, nil
}

// mostRecords is how many path records are asked for at most.
const mostRecords = 4096

// Ask asks for the path records of all pairs of hosts, or where there are too
// many of a sample with hosts of as many pairs of leaf switches as possible. That
// there is no answer is not an error: then nothing is granted.
func (l *Proof) Ask(ctx context.Context, conn *connection.Connection, live, staged *fabric.Tables,
	progress func(done, total int)) error {
	c, err := conn.SA(ctx)
	if err != nil {
		l.Refused = fmt.Sprintf("it does not answer (%v)", err)
		return ctx.Err()
	}
	leaves := hostsByLeaf(live.Fabric, staged.Fabric)
	pairs := hostPairs(leaves)
	hosts := int64(0)
	for _, leaf := range leaves {
		hosts += int64(len(leaf))
	}
	l.Pairs = hosts * (hosts - 1)
	f := live.Fabric
	for i, p := range pairs {
		r, err := sa.Get(ctx, c, sa.PathRecord{SLID: f.Ports[p[0]].LID, DLID: f.Ports[p[1]].LID, NumPath: 1},
			sa.PathSLID|sa.PathDLID|sa.PathNumPath)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		l.Asked++
		src, dst := lidOf(staged.Fabric, f.Ports[p[0]].GUID), lidOf(staged.Fabric, f.Ports[p[1]].GUID)
		want, _ := staged.SL(src, dst)
		switch {
		case errors.Is(err, sa.NoRecords): // they share no partition, so there are no packets
			l.Asked--
		case err == nil && staged.MayHaveSL(src, dst, r.SL):
			l.Granted++
		case err != nil:
			l.Refused = fmt.Sprintf("%s to %s: %v", f.PortName(p[0]), f.PortName(p[1]), err)
			return nil // one is enough to know, and each may take its time
		case l.Refused == "":
			l.Refused = fmt.Sprintf("%s to %s, where the routing needs SL %d and it says %d", f.PortName(p[0]),
				f.PortName(p[1]), want, r.SL)
		}
		progress(i+1, len(pairs))
	}
	if l.Asked == 0 {
		l.Refused = "it has no path record between any two hosts"
	}
	return nil
}

// lidOf is the LID of a port of the fabric.
func lidOf(f *fabric.Fabric, guid uint64) uint16 { return f.Ports[f.PortByGUID(guid)].LID }

// hostsByLeaf are the ports of hosts of both fabrics, by the switch that they are attached to.
func hostsByLeaf(live, staged *fabric.Fabric) [][]fabric.PortIndex {
	at := map[fabric.SwitchIndex]int{}
	var leaves [][]fabric.PortIndex
	for _, e := range live.EndPorts {
		s := staged.PortByGUID(live.Ports[e].GUID)
		if live.Nodes[live.Ports[e].Node].IsSwitch() || live.Ports[e].LID == 0 || s == fabric.None ||
			!staged.Nodes[staged.Ports[s].Node].InSubnet {
			continue
		}
		sw, _ := live.AttachedSwitch(e)
		i, ok := at[sw]
		if !ok {
			i = len(leaves)
			at[sw], leaves = i, append(leaves, nil)
		}
		leaves[i] = append(leaves[i], e)
	}
	return leaves
}

// hostPairs are all pairs of hosts if they are not too many, else pairs of hosts
// of different leaf switches, chosen at random but the same every time.
func hostPairs(leaves [][]fabric.PortIndex) (pairs [][2]fabric.PortIndex) {
	var all []fabric.PortIndex
	for _, leaf := range leaves {
		all = append(all, leaf...)
	}
	if len(all)*(len(all)-1) <= mostRecords {
		for _, src := range all {
			for _, dst := range all {
				if src != dst {
					pairs = append(pairs, [2]fabric.PortIndex{src, dst})
				}
			}
		}
		return pairs
	}
	rnd := rand.New(rand.NewPCG(1, uint64(len(all))))
	host := func(leaf int) fabric.PortIndex { return leaves[leaf][rnd.IntN(len(leaves[leaf]))] }
	if n := len(leaves); n*(n-1) <= mostRecords {
		for i := range leaves {
			for j := range leaves {
				if i != j {
					pairs = append(pairs, [2]fabric.PortIndex{host(i), host(j)})
				}
			}
		}
	}
	for len(pairs) < mostRecords {
		if i, j := all[rnd.IntN(len(all))], all[rnd.IntN(len(all))]; i != j {
			pairs = append(pairs, [2]fabric.PortIndex{i, j})
		}
	}
	return pairs
}
