// SPDX-License-Identifier: Apache-2.0

package reach

import (
	"slices"
	"strings"
	"testing"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/internal/test/testenv"
	"example.org/ibconsole/routing/checks/trees/treestest"
	"example.org/ibconsole/routing/checks/walk"
)

// TestPlantedEntries plants one wrong entry at a time into good tables. If it breaks a path, the check must find that,
// and the explanation must state where it ends. Otherwise the path got longer or is another shortest one.
func TestPlantedEntries(t *testing.T) {
	rnd := testenv.Rand(t)
	broken := 0
	for range 1000 {
		good := treestest.Minhop(t, treestest.Random(t, rnd))
		f := good.Fabric
		if len(f.Switches) == 0 || len(f.EndPorts) < 2 {
			continue
		}
		sw := fabric.SwitchIndex(rnd.IntN(len(f.Switches)))
		dst := f.EndPorts[rnd.IntN(len(f.EndPorts))]
		lid := f.Ports[dst].LID
		wrong := []uint8{fabric.NoPath, 0, uint8(rnd.IntN(int(f.SwitchNode(sw).NumPorts)) + 1), 200}[rnd.IntN(4)]
		if !f.SwitchNode(sw).InSubnet || good.Port(sw, lid) == wrong {
			continue
		}
		tables := *good
		tables.LFT = good.LFT.Clone()
		tables.LFT.Row(sw)[lid] = wrong
		opt := Options{Switches: true, Examples: 1 << 20}
		got, err := Check(t.Context(), &tables, opt)
		if err != nil {
			t.Fatal(err)
		}
		same(t, "planted", got, slow(&tables, true))
		before, err := Check(t.Context(), good, opt)
		if err != nil {
			t.Fatal(err)
		}
		if got.Bad() == before.Bad() {
			continue
		}
		broken++
		named := slices.ContainsFunc(got.Troubles, func(p Path) bool {
			path := walk.Trace(&tables, p.Src, p.LID)
			why := path.Explain(f)
			return p.LID == lid && why != "" && !strings.Contains(why, "delivered over")
		})
		if !named {
			t.Fatalf("port %d for LID %d at %s: no trouble of this LID is listed", wrong, lid,
				f.NodeName(f.Switches[sw]))
		}
	}
	if broken < 200 {
		t.Errorf("%d entries broke a path, want most", broken)
	}
	t.Logf("%d entries broke paths", broken)
}
