// SPDX-License-Identifier: Apache-2.0

package classify

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"example.org/ibconsole/fabric"
)

// named returns tables whose ports depend only on the names of switch and destination, so that subnets of the same
// hosts have the same tables whatever their GUIDs and LIDs are.
func named(t testing.TB, f *fabric.Fabric, shift uint16) *fabric.Tables {
	t.Helper()
	lids := make([]uint16, len(f.EndPorts))
	for i := range lids {
		lids[i] = shift + uint16(i)
	}
	f, err := f.WithLIDs(lids)
	if err != nil {
		t.Fatal(err)
	}
	lft := fabric.NewLFT(len(f.Switches), f.MaxLID)
	for sw, n := range f.Switches {
		for _, e := range f.EndPorts {
			// without the number of the adapter, which is that of the rail
			host, _, _ := strings.Cut(f.NodeName(f.Ports[e].Node), " ")
			lft.Row(fabric.SwitchIndex(sw))[f.Ports[e].LID] = uint8(1 +
				(len(f.NodeName(n))+3*len(host)+int(host[len(host)-1]))%7)
		}
	}
	return fabric.NewTables(f, lft, "named")
}

// TestCompareTables checks that a change of the tables of one of three subnets is reported for that subnet only.
func TestCompareTables(t *testing.T) {
	lid := func(f *fabric.Fabric, name string) uint16 {
		return f.Ports[f.EndPortOf(f.Nodes[slices.IndexFunc(f.Nodes, func(n fabric.Node) bool {
			return strings.HasPrefix(n.Desc, name)
		})].FirstPort+1)].LID
	}
	const hosts, switches = 8, 6
	for name, c := range map[string]struct {
		fault func(*fabric.Tables) *fabric.Tables
		want  string
	}{
		"the same": {func(t *fabric.Tables) *fabric.Tables { return t }, ""},
		"an entry to a host": {func(t *fabric.Tables) *fabric.Tables {
			t.LFT.Row(3)[lid(t.Fabric, "node-0005")]++
			return t
		}, fmt.Sprintf("3 tables: 1 of %d forwarding entries lead elsewhere than on most\n",
			switches*(hosts+switches))},
		"an entry to a switch": {func(t *fabric.Tables) *fabric.Tables {
			t.LFT.Row(0)[lid(t.Fabric, "spine-02")]++
			return t
		}, fmt.Sprintf("3 tables: 1 of %d forwarding entries lead elsewhere than on most\n",
			switches*(hosts+switches))},
		"a table that was not read": {func(t *fabric.Tables) *fabric.Tables {
			t.Known[2] = false
			return t
		}, "3 tables: the forwarding tables of 1 switch were not read\n"},
		"no tables": {func(*fabric.Tables) *fabric.Tables {
			return nil
		}, "3 tables: no forwarding tables are known, 2 others have them\n"},
	} {
		var all []*Structure
		var tables []*fabric.Tables
		for i, f := range rails(t, 3, "fattree:2,4") {
			tables = append(tables, named(t, f, uint16(1+10*i)))
			all = append(all, Recognise(tables[i].Fabric, nil))
		}
		tables[2] = c.fault(tables[2])
		got := ""
		for _, d := range Compare(all, tables) {
			got += fmt.Sprintf("%d %s: %s\n", d.Subnet+1, d.Kind, d.What)
		}
		if got != c.want {
			t.Errorf("%s: got\n%swant\n%s", name, got, c.want)
		}
	}
}
