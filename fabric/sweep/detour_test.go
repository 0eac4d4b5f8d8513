// SPDX-License-Identifier: Apache-2.0

package sweep_test

import (
	"slices"
	"testing"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/fabric/sim"
	"example.org/ibconsole/fabric/sweep"
	"example.org/ibconsole/mad"
)

// corner breaks the first cable of the path to the far corner of a square of four switches as soon as that switch has
// answered a request.
type corner struct {
	f      *fabric.Fabric
	s      *sim.Sim
	far    fabric.NodeIndex
	broken bool
	first  uint8 // port of the near corner with that cable
}

func (c *corner) answered(t *testing.T, m *mad.SMP) {
	t.Helper()
	if c.broken || m.HopCount != 3 {
		return
	}
	near := c.f.PeerNode(c.f.SMPort)
	first := c.f.Port(near, m.InitialPath[2])
	if c.f.PeerNode(c.f.Port(c.f.PeerNode(first), m.InitialPath[3])) != c.far {
		return
	}
	c.broken, c.first = true, m.InitialPath[2]
	if err := c.s.Unlink(first); err != nil {
		t.Error(err)
	}
}

// TestDetour breaks the cable after the far corner has answered NodeInfo, or one block of its table: everything else is
// read by the other path.
func TestDetour(t *testing.T) {
	for _, at := range []mad.AttrID{mad.AttrNodeInfo, mad.AttrLinearForwardingTable} {
		t.Run(at.String(), func(t *testing.T) {
			f, tables, s := routed(t, "mesh:2x2,1")
			c := corner{f: f, s: s, far: f.NodesByDescription("sw-1-1")[0]}
			conn := &changer{open(t, s, f.SMPort), func(m *mad.SMP) {
				if m.Attr == at {
					c.answered(t, m)
				}
			}}
			res := full(t, client(t, conn, mad.ClientOptions{Window: 1}), sweep.Options{})
			if !c.broken {
				t.Error("the cable was not broken")
			}
			for _, h := range res.Unanswered {
				t.Errorf("unanswered: %v", h)
			}
			same(t, "tables", describeTables(tables), describeTables(res.Tables))
			plausible(t, f, tables, res)
		})
	}
}

// TestDetourToAnother checks that a different switch that answers by the other path is not accepted.
func TestDetourToAnother(t *testing.T) {
	f, _, s := routed(t, "mesh:2x2,1")
	c := corner{f: f, s: s, far: f.NodesByDescription("sw-1-1")[0]}
	conn := &changer{open(t, s, f.SMPort), func(m *mad.SMP) {
		if m.Attr != mad.AttrNodeInfo {
			return
		}
		var info mad.NodeInfo
		if err := info.UnmarshalBinary(m.Data[:]); err != nil {
			t.Error(err)
		}
		c.answered(t, m)
		if c.broken && m.InitialPath[2] != c.first && info.NodeGUID == f.Nodes[c.far].GUID && m.HopCount >= 3 {
			info.NodeGUID++
			b, _ := info.AppendBinary(nil)
			m.Data = [64]byte(b)
		}
	}}
	res := full(t, client(t, conn, mad.ClientOptions{Window: 1}), sweep.Options{})
	i := res.Fabric.SwitchByGUID(f.Nodes[c.far].GUID)
	if i == fabric.None || res.Tables.Known[i] || len(res.Unanswered) == 0 {
		t.Errorf("the tables are those of another switch; unanswered %v", res.Unanswered)
	}
}

// TestStandstill stops all answers during the sweep, for longer than all tries of a request. If the interrupted
// requests only asked for nodes behind ports, these count as unanswered, as for dead nodes.
func TestStandstill(t *testing.T) {
	f, tables, s := routed(t, "fattree:2,8")
	want := full(t, client(t, open(t, s, f.SMPort), mad.ClientOptions{}), sweep.Options{})
	const window, tries = 8, 2
	whole := 0
	for at := 30; at < want.Stats.Requests; at += 25 {
		packets := 0
		conn := &dropper{Transport: open(t, s, f.SMPort), drop: func(*mad.SMP) bool {
			packets++
			return at <= packets && packets < at+window*tries
		}}
		res := full(t, client(t, conn, mad.ClientOptions{Window: window, MinWindow: window, Tries: tries, Backoff: 1}),
			sweep.Options{})
		if slices.ContainsFunc(res.Unanswered, func(h sweep.Unanswered) bool { return h.Attr == mad.AttrNodeInfo }) {
			plausible(t, f, tables, res)
			continue
		}
		whole++
		clean(t, res)
		same(t, "fabric", describe(want.Fabric), describe(res.Fabric))
		same(t, "tables", describeTables(tables), describeTables(res.Tables))
		if t.Failed() {
			t.Fatalf("from packet %d on", at)
		}
	}
	if whole == 0 {
		t.Error("no sweep continued after the standstill")
	}
}
