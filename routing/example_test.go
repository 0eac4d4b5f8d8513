// SPDX-License-Identifier: Apache-2.0

package routing_test

import (
	"context"
	"fmt"
	"log"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/fabric/gen"
	"example.org/ibconsole/routing"
	"example.org/ibconsole/routing/engines"
	"example.org/ibconsole/routing/engines/minhop"
)

// This example assigns LIDs to a fat-tree of 8 hosts, and routes it.
func Example() {
	f, err := gen.ParseSpec("fattree:2,4")
	if err != nil {
		log.Fatal(err)
	}
	if f, err = fabric.AssignLIDs(f); err != nil {
		log.Fatal(err)
	}
	res, err := routing.Route(context.Background(), minhop.Engine{}, f, routing.Options{})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("routed by", res.Tables.Origin)
	host := f.Port(f.NodesByDescription("node-0008 HCA-1")[0], 1)
	lid := f.Ports[host].LID
	for sw := range f.NumSwitches() {
		fmt.Printf("%s sends LID %d, %s, by port %d\n", f.NodeName(f.Switches[sw]), lid, f.PortName(host),
			res.Tables.Port(sw, lid))
	}
	// Output:
	// routed by minhop
	// leaf-01 sends LID 14, node-0008 HCA-1/1, by port 4
	// leaf-02 sends LID 14, node-0008 HCA-1/1, by port 4
	// leaf-03 sends LID 14, node-0008 HCA-1/1, by port 4
	// leaf-04 sends LID 14, node-0008 HCA-1/1, by port 2
	// spine-01 sends LID 14, node-0008 HCA-1/1, by port 4
	// spine-02 sends LID 14, node-0008 HCA-1/1, by port 4
}

// Engines are tried in order, as with routing_engine of opensm.conf.
func ExampleRefusedError() {
	f, err := gen.ParseSpec("torus:3x3,1")
	if err != nil {
		log.Fatal(err)
	}
	if f, err = fabric.AssignLIDs(f); err != nil {
		log.Fatal(err)
	}
	chain, err := engines.Chain([]string{"ftree", "updn"})
	if err != nil {
		log.Fatal(err)
	}
	res, refusals, err := engines.Try(context.Background(), chain, f, routing.Options{})
	if err != nil {
		log.Fatal(err)
	}
	for _, r := range refusals {
		fmt.Println(r.Engine, "refused")
	}
	fmt.Println("routed by", res.Tables.Origin)
	// Output:
	// ftree refused
	// updn refused
	// routed by minhop
}
