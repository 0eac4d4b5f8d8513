// SPDX-License-Identifier: Apache-2.0

package walk_test

import (
	"context"
	"fmt"
	"log"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/fabric/gen"
	"example.org/ibconsole/routing"
	"example.org/ibconsole/routing/checks/walk"
	"example.org/ibconsole/routing/engines/minhop"
)

// ExampleTrace prints one path, switch by switch.
func ExampleTrace() {
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
	host := func(name string) fabric.PortIndex { return f.Port(f.NodesByDescription(name)[0], 1) }
	src, dst := host("node-0001 HCA-1"), host("node-0008 HCA-1")
	path := walk.Trace(res.Tables, src, f.Ports[dst].LID)
	for _, hop := range path.Hops {
		fmt.Println(f.NodeName(hop.Node))
	}
	fmt.Println(path.Explain(f))
	// Output:
	// node-0001 HCA-1
	// leaf-01
	// spine-02
	// leaf-04
	// node-0008 HCA-1
	// delivered over 3 switches
}
