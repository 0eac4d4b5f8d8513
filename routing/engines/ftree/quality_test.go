// SPDX-License-Identifier: Apache-2.0

package ftree_test

import (
	"fmt"
	"testing"

	"example.org/ibconsole/fabric/gen/gentest"
	"example.org/ibconsole/internal/test/testenv"
	"example.org/ibconsole/routing"
	"example.org/ibconsole/routing/checks/linkload"
	"example.org/ibconsole/routing/engines/ftree"
)

// On a full fat-tree every shift in the ca-order is free of contention, which is the purpose of the engine. The
// effective bisection bandwidth of d-mod-k, which is equally balanced, was simulated as 0.686 of full on 3,456 hosts
// and 0.675 on 11,664; it falls with their number.
func TestShiftsAndBisectionsOfFullTrees(t *testing.T) {
	sizes := []int{4, 8, 12, 24}
	if testenv.Full() {
		sizes = append(sizes, 36)
	}
	for _, ports := range sizes {
		f := gentest.WithLIDs(t, fmt.Sprintf("fattree:3,%d", ports))
		res, err := ftree.Engine{}.Route(t.Context(), f, routing.Options{})
		if err != nil {
			t.Fatal(err)
		}
		shifts := 0
		if ports > 12 {
			shifts = 60
		}
		s, err := linkload.Shifts(t.Context(), res.Tables, res.CAOrder, shifts, nil)
		if err != nil {
			t.Fatal(err)
		}
		if s.Worst != 1 || s.Lost != 0 || s.Hosts != ports*ports*ports/4 || shifts == 0 && s.Shifts != s.Hosts-1 {
			t.Errorf("%d ports: %+v, expected no contention", ports, s)
		}
		b, err := linkload.Bisections(t.Context(), res.Tables, res.CAOrder, 20, 1, nil)
		if err != nil {
			t.Fatal(err)
		}
		if b.Mean < 0.67 || b.Lost != 0 {
			t.Errorf("%d ports: %+v, want 0.67 of full bandwidth", ports, b)
		}
	}
}
