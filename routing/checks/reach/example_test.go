// SPDX-License-Identifier: Apache-2.0

package reach_test

import (
	"context"
	"fmt"
	"log"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/fabric/gen"
	"example.org/ibconsole/routing"
	"example.org/ibconsole/routing/checks/reach"
	"example.org/ibconsole/routing/engines/minhop"
)

// Example follows all pairs of hosts of a fat-tree before and after a link failure, which leaves broken entries in the
// tables.
func Example() {
	f, err := gen.ParseSpec("fattree:2,4")
	if err != nil {
		log.Fatal(err)
	}
	if f, err = fabric.AssignLIDs(f); err != nil {
		log.Fatal(err)
	}
	res, err := minhop.Engine{}.Route(context.Background(), f, routing.Options{})
	if err != nil {
		log.Fatal(err)
	}
	tables := *res.Tables
	for range 2 {
		r, err := reach.Check(context.Background(), &tables, reach.Options{Examples: 1})
		if err != nil {
			log.Fatal(err)
		}
		fmt.Printf("%d of %d paths arrive\n", r.Delivered, r.Paths)
		for _, p := range r.Troubles {
			fmt.Printf("%s to %s: %v\n", f.PortName(p.Src), f.PortName(p.Dst), p.Verdict)
		}
		leaf := f.NodesByDescription("leaf-01")[0]
		link, _ := f.LinkOf(f.Port(leaf, 3))
		tables.Fabric = f.Without([]fabric.Link{link})
	}
	// Output:
	// 56 of 56 paths arrive
	// 44 of 56 paths arrive
	// node-0003 HCA-1/1 to node-0001 HCA-1/1: dead end
}
