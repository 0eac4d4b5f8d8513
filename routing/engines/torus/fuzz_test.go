// SPDX-License-Identifier: Apache-2.0

package torus_test

import (
	"errors"
	"strings"
	"testing"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/fabric/formats/osm"
	"example.org/ibconsole/fabric/gen"
	"example.org/ibconsole/routing"
	"example.org/ibconsole/routing/engines/torus"
)

// Whatever a configuration says, a torus is routed or refused.
func FuzzConfig(f *testing.F) {
	var fabrics []*fabric.Fabric
	for _, spec := range []string{"torus:4x3x2,links=2", "mesh:5x4", "random:12,4,12", "fattree:2,4"} {
		g, err := gen.ParseSpec(spec)
		if err != nil {
			f.Fatal(err)
		}
		if g, err = fabric.AssignLIDs(g); err != nil {
			f.Fatal(err)
		}
		fabrics = append(fabrics, g)
	}
	f.Add("torus 4 3 2\nxp_link 0x200000 0x200006\nxm_link 0x200000 0x200012\nyp_link 0x200000 0x200002\nzp_link "+
		"0x200000 0x200001\nport_order 3 1\n", uint8(0))
	f.Add("mesh 5 4 1\nxp_link 0x200000 0x200004\nyp_link 0x200000 0x200001\nportgroup_max_ports 2\n", uint8(1))
	f.Add("torus 3t 3t 2m\nxp_link 0x200000 0x200004\nyp_link 0x200000 0x200001\nzm_link 0x200000 "+
		"0x200003\nx_dateline -1", uint8(2))
	f.Add("torus 2 2 2\nxp_link 0x200000 0x200004\nyp_link 0x200000 0x200005\nzm_link 0x200000 0x200003\nnext_seed\n",
		uint8(3))
	f.Fuzz(func(t *testing.T, text string, which uint8) {
		conf, err := osm.ReadTorusConf(strings.NewReader(text), "f")
		if err != nil {
			t.Fatal(err)
		}
		res, err := torus.Engine{Conf: conf}.Route(t.Context(), fabrics[int(which)%len(fabrics)], routing.Options{})
		var refused *routing.RefusedError
		if err != nil && !errors.As(err, &refused) {
			t.Fatal(err)
		}
		if err != nil {
			return
		}
		grid, ok := torus.Of(res.Tables)
		if !ok || grid.MasterTree() == nil {
			t.Fatal("tables without a torus or its tree")
		}
	})
}
