// SPDX-License-Identifier: Apache-2.0

package credits

import (
	"context"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/internal/base/verdict"
)

// Verdict is the verdict on credit loops.
type Verdict uint8

// The verdicts.
const (
	None Verdict = iota
	Loop
	// Unknown means that the answer depends on unread SLs or VLs.
	Unknown
)

// String returns "no", "yes" or "unknown".
func (v Verdict) String() string { return [...]string{"no", "yes", "unknown"}[v] }

// Verdict returns the verdict of a check.
func (v Verdict) Verdict() verdict.Verdict { return verdict.Of(v == Loop, v == Unknown) }

// VerdictOf returns the verdict for a ring if everything was read.
func VerdictOf(ring []Dependency) Verdict {
	if ring == nil {
		return None
	}
	return Loop
}

// checkUnread checks tables of which parts were not read. With every packet on one VL, the graph contains all possible
// dependencies between links. If this graph has no cycle, no SLs and VLs cause one. If the hops whose VL is certain
// already form a cycle, a credit loop exists for all SLs and VLs.
func checkUnread(ctx context.Context, t *fabric.Tables, opt Options) (*Result, error) {
	worst := *t
	worst.SL2VL, worst.SLs = nil, nil
	most, err := newChecker(&worst, opt).check(ctx)
	if err != nil {
		return nil, err
	}
	most.Unread = t.Unread
	if most.Ring == nil {
		return most, nil
	}
	c := newChecker(t, opt)
	c.certain, c.sls = true, opt.Paths
	if t.Unread.SL2VL {
		c.sl2vl = nil
	}
	sure, err := c.check(ctx)
	if err != nil {
		return nil, err
	}
	most.Verdict, most.Ring, most.Cyclic, most.Rings = sure.Verdict, sure.Ring, sure.Cyclic, sure.Rings
	if sure.Verdict == None {
		most.Verdict = Unknown
	}
	return most, nil
}

// oneDataVL is the value of OperationalVLs for a port that operates only VL 0 (IBA 1.2.1, 14.2.5.6).
const oneDataVL = 1

// uncertain is the bit that stands for a VL that depends on the SL. Packets on such a VL are followed, but cause no
// dependencies.
const uncertain = 1 << fabric.DropVL

// certainVL returns the VL that packets of every SL use, as a set of one VL. It returns uncertain if the VL depends on
// the SL. A link that operates one VL has only VL 0.
func (c *checker) certainVL(sw fabric.SwitchIndex, in, out uint8) uint16 {
	node := c.f.Switches[sw]
	if c.f.Ports[c.f.Port(node, out)].OperVLs == oneDataVL {
		return 1
	}
	if c.sl2vl == nil {
		return uncertain
	}
	vls := c.sl2vl.VLs(node, in, out)
	for _, vl := range vls {
		if vl != vls[0] || vl == fabric.DropVL {
			return uncertain
		}
	}
	return 1 << vls[0]
}

// Work returns the number of table entries times the number of SLs that a check of tables follows.
func Work(t *fabric.Tables) int {
	n := len(t.Fabric.Switches) * int(t.LFT.MaxLID)
	if t.SLs != nil {
		n *= 16
	}
	return n
}
