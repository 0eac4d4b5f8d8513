// SPDX-License-Identifier: Apache-2.0

package mad_test

import (
	"context"
	"fmt"
	"log"

	"example.org/ibconsole/fabric/gen"
	"example.org/ibconsole/fabric/sim"
	"example.org/ibconsole/mad"
)

// A client sends requests over a transport, here a port of a simulated subnet. For an adapter of this machine, only the
// transport would be different: that of package umad.
func Example() {
	ctx := context.Background()
	f, err := gen.ParseSpec("fattree:2,4")
	if err != nil {
		log.Fatal(err)
	}
	port, err := sim.New(f, sim.Options{Active: true}).Open(f.SMPort)
	if err != nil {
		log.Fatal(err)
	}
	client, err := mad.NewClient(port, mad.ClientOptions{})
	if err != nil {
		log.Fatal(err)
	}
	defer client.Close()

	// The adapter's first port leads to a switch, and that one's port 3 to a spine.
	path, err := mad.Path{}.Append(1, 3)
	if err != nil {
		log.Fatal(err)
	}
	for _, p := range []mad.Path{{}, path} {
		node, err := client.NodeInfo(ctx, p)
		if err != nil {
			log.Fatal(err)
		}
		desc, err := mad.Get[mad.NodeDescription](ctx, client, p, 0)
		if err != nil {
			log.Fatal(err)
		}
		fmt.Printf("by %v: %v with %d ports, %s\n", p, node.Type, node.NumPorts, desc.String())
	}
	info, err := client.PortInfo(ctx, path, 1)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("port 1 is", info.PortState)

	// An attribute without a method of its own goes by Get; Set writes one.
	table, err := mad.Get[mad.LinearForwardingTable](ctx, client, path, 0)
	if err != nil {
		log.Fatal(err)
	}
	table[7] = 2 // LID 7 leaves by port 2
	if table, err = mad.Set(ctx, client, path, 0, table); err != nil {
		log.Fatal(err)
	}
	fmt.Println("LID 7 leaves by port", table[7])
	// Output:
	// by 0: Channel Adapter with 1 ports, node-0001 HCA-1
	// by 0,1,3: Switch with 4 ports, spine-01
	// port 1 is Active
	// LID 7 leaves by port 2
}
