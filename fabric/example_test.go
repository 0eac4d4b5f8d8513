// SPDX-License-Identifier: Apache-2.0

package fabric_test

import (
	"context"
	"fmt"
	"log"
	"strings"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/fabric/formats/ibnet"
)

const topology = `
Switch 3 "leaf"
[1] "host-1"[1]
[2] "host-2"[1]
[3] "spine"[1]

Switch 2 "spine"
[1] "leaf"[3]
[2] "host-3"[1]

Hca 1 "host-1"
[1] "leaf"[1]

Hca 1 "host-2"
[1] "leaf"[2]

Hca 1 "host-3"
[1] "spine"[2]
`

// Read a file, list the links of its switches, and simulate the failure of a link.
func Example() {
	// Package formats detects the format of a file.
	file, err := ibnet.Read(context.Background(), strings.NewReader(topology), "topology",
		ibnet.Options{Reading: ibnet.AsIbsim})
	if err != nil {
		log.Fatal(err)
	}
	f := file.Fabric
	for _, node := range f.Switches {
		for port := range f.Nodes[node].Ports() {
			fmt.Println(f.PortName(port), "leads to", f.NodeName(f.PeerNode(port)))
		}
	}

	spine := f.NodesByDescription("spine")[0]
	link, _ := f.LinkOf(f.Port(spine, 1))
	failed := f.Without([]fabric.Link{link})
	for _, end := range f.EndPorts {
		if node := failed.Ports[end].Node; !failed.Nodes[node].InSubnet {
			fmt.Println(failed.NodeName(node), "is unreachable")
		}
	}
	fmt.Println("links before and after:", len(f.Links()), len(failed.Links()))
	// Output:
	// leaf/1 leads to host-1
	// leaf/2 leads to host-2
	// leaf/3 leads to spine
	// spine/1 leads to leaf
	// spine/2 leads to host-3
	// spine is unreachable
	// host-3 is unreachable
	// links before and after: 4 3
}
