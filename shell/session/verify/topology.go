// SPDX-License-Identifier: Apache-2.0

package verify

import (
	"bytes"
	"context"
	"fmt"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/fabric/formats/ibnet"
)

// topology compares nodes, links, LIDs, widths and speeds with the output of ibnetdiscover. It first converts the
// fabric to the format of ibnetdiscover, so data that this format cannot contain is not a difference.
func topology(ctx context.Context, opt *Options, c *Check) error {
	c.Program = "ibnetdiscover"
	program, err := find(c.Program)
	if err != nil {
		return err
	}
	text, err := opt.Tools.run(ctx, topologyBounds, program, "--node-name-map", "/dev/null")
	if err != nil {
		return err
	}
	theirs, err := ibnet.Read(ctx, bytes.NewReader(text), c.Program, ibnet.Options{})
	if err != nil {
		return err
	}
	var own bytes.Buffer
	if err := ibnet.Write(&own, opt.Tables.Fabric, ibnet.WriteOptions{}); err != nil {
		return err
	}
	ours, err := ibnet.Read(ctx, &own, "sweep", ibnet.Options{})
	if err != nil {
		return err
	}
	for _, line := range theirs.Unread.Lines(mostNamed) {
		c.notRead("not understood of what it printed: %s", line)
	}
	if opt.Renamed {
		c.note("descriptions: a node-name map replaced them")
	}
	f := ours.Fabric
	c.Compared = []Amount{
		{len(f.Switches), "switch"}, {len(f.Nodes) - len(f.Switches), "adapter"}, {len(f.Links()), "link"},
	}
	for _, change := range fabric.Changes(f, theirs.Fabric) {
		if change.Kind != fabric.NodeRenamed || !opt.Renamed {
			c.differs("%s", words(change))
		}
	}
	return nil
}

// words returns a text that describes a difference between ibnetdiscover and the sweep.
func words(c fabric.Change) string {
	switch c.Kind {
	case fabric.NodeGone:
		return fmt.Sprintf("%s: ibnetdiscover does not find it", c.At.Name)
	case fabric.NodeNew:
		return fmt.Sprintf("%s: only ibnetdiscover finds it", c.At.Name)
	case fabric.LinkDown:
		return fmt.Sprintf("%s to %s: ibnetdiscover finds no link", c.At.Name, c.Peer.Name)
	case fabric.LinkUp:
		return fmt.Sprintf("%s to %s: only ibnetdiscover finds the link", c.At.Name, c.Peer.Name)
	}
	return fmt.Sprintf("%s: %s in the sweep, %s by ibnetdiscover", c.At.Name, kindWord(c.Kind)+" "+c.From, c.To)
}

// kindWord returns the name of the value that a change is about.
func kindWord(k fabric.ChangeKind) string {
	if k == fabric.NodeRenamed {
		return "described as"
	}
	return k.String()
}
