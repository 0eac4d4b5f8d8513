// SPDX-License-Identifier: Apache-2.0

package verify

import (
	"bytes"
	"context"
	"errors"
	"fmt"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/fabric/formats/osm"
	"example.org/ibconsole/routing/changes/diff"
)

// lftBlock is the number of entries in a block of a forwarding table.
const lftBlock = 64

// routes compares forwarding tables with the tables that dump_fts reads.
func routes(ctx context.Context, opt *Options, c *Check) error {
	c.Program = "dump_fts"
	live := opt.Tables
	f := live.Fabric
	if f.MaxLID == 0 {
		return errors.New("the subnet has no LIDs yet, so there are no tables")
	}
	program, err := find("dump_fts", "dump_lfts", "dump_lfts.sh")
	if err != nil {
		return err
	}
	text, err := opt.Tools.run(ctx, routesBounds(f), program, "-n", "--node-name-map", "/dev/null")
	if err != nil {
		return err
	}
	file, err := osm.ReadLFTs(bytes.NewReader(text), c.Program)
	if err != nil {
		return err
	}
	theirs, _, err := file.Apply(f)
	if err != nil {
		return err
	}
	switches, entries := 0, 0
	for i := range f.NumSwitches() {
		name := f.NodeName(f.Switches[i])
		switch {
		case !f.SwitchNode(i).InSubnet:
		case !live.Known[i]:
			c.notRead("%s: its table was not read", name)
		case !theirs.Known[i]:
			c.differs("%s: dump_fts has no table of it", name)
		default:
			switches++
			entries += int(live.Top[i])
		}
	}
	c.Compared = []Amount{{switches, "forwarding table"}, {entries, "entry"}}
	unprinted := 0
	for e := range diff.Changes(live, theirs) {
		top := live.Top[e.SwitchOld]
		if e.LID == top && top%lftBlock == 0 && e.New == fabric.NoPath {
			unprinted++
			continue
		}
		c.differs("%s, LID %d: %s in the sweep, %s by dump_fts", f.NodeName(f.Switches[e.SwitchOld]), e.LID,
			portWords(e.Old), portWords(e.New))
	}
	if unprinted > 0 {
		c.note("the entries for LID %d: dump_fts does not print the highest LID if it is a multiple of 64",
			f.MaxLID)
	}
	return nil
}

func portWords(port uint8) string {
	if port == fabric.NoPath {
		return "no route"
	}
	return fmt.Sprintf("port %d", port)
}
