// SPDX-License-Identifier: Apache-2.0

package credits_test

import (
	"context"
	"fmt"
	"log"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/fabric/gen"
	"example.org/ibconsole/routing"
	"example.org/ibconsole/routing/checks/credits"
	"example.org/ibconsole/routing/engines/minhop"
)

// Example shows how the shortest paths round a ring of five switches wait for one another.
func Example() {
	f, err := gen.ParseSpec("torus:5 hosts=1")
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
	r, err := credits.Check(context.Background(), res.Tables, credits.Options{})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("channels on cycles:", r.Cyclic)
	for _, d := range r.Ring {
		fmt.Printf("%s waits for %s, as %s sends to LID %d\n", f.PortName(d.From.Port), f.PortName(d.To.Port),
			f.PortName(d.Src), d.LID)
	}
	// Output:
	// channels on cycles: 10
	// sw-0/2 waits for sw-1/2, as node-0001 HCA-1/1 sends to LID 8
	// sw-1/2 waits for sw-2/2, as node-0002 HCA-1/1 sends to LID 9
	// sw-2/2 waits for sw-3/2, as node-0003 HCA-1/1 sends to LID 10
	// sw-3/2 waits for sw-4/2, as node-0004 HCA-1/1 sends to LID 1
	// sw-4/2 waits for sw-0/2, as node-0005 HCA-1/1 sends to LID 5
}
