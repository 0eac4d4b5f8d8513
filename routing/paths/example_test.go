// SPDX-License-Identifier: Apache-2.0

package paths_test

import (
	"context"
	"fmt"
	"log"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/fabric/formats/pathdb"
	"example.org/ibconsole/fabric/gen"
	"example.org/ibconsole/routing"
	"example.org/ibconsole/routing/engines/minhop"
	"example.org/ibconsole/routing/paths"
)

// Example builds the records of all paths of a fat-tree and queries one of them. [pathdb.Open] opens the bytes when
// they are written to a file.
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
	bytes, err := paths.Build(context.Background(), res.Tables, paths.Options{Trace: true})
	if err != nil {
		log.Fatal(err)
	}
	db, err := pathdb.Parse(bytes)
	if err != nil {
		log.Fatal(err)
	}
	defer db.Close()
	view := db.View()
	lid := func(host string) uint16 { return f.Ports[f.Port(f.NodesByDescription(host)[0], 1)].LID }
	src, dst := lid("node-0001 HCA-1"), lid("node-0008 HCA-1")
	rec, err := view.Query(src, dst, pathdb.Want{})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("from LID %d to LID %d: SL %d, P_Key 0x%04x, %g Gbit/s, %d links\n", rec.SLID, rec.DLID, rec.SL,
		rec.PKey, pathdb.Gbps(rec.Rate), rec.Hops)
	hops, err := view.Route(nil, src, dst)
	if err != nil {
		log.Fatal(err)
	}
	for _, hop := range hops {
		fmt.Printf("switch 0x%016x, out by port %d\n", hop.GUID, hop.Out)
	}
	_, err = view.Query(src, 999, pathdb.Want{})
	fmt.Println("to LID 999:", err)
	// Output:
	// from LID 1 to LID 14: SL 0, P_Key 0xffff, 10 Gbit/s, 4 links
	// switch 0x0000000000200000, out by port 4
	// switch 0x0000000000200005, out by port 4
	// switch 0x0000000000200003, out by port 2
	// to LID 999: no port has the destination address
}
