// SPDX-License-Identifier: Apache-2.0

package session

import (
	"math/bits"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/routing/torus"
)

// addGroups gives tables the trees of the multicast groups that there are, where
// their engine has trees of its own and the multicast tables of before were read:
// the members are the ports that are no switches' there.
func addGroups(t, before *fabric.Tables) error {
	routed, ok := torus.Of(t)
	if !ok || before == nil || before.MFT == nil || !sameNodes(before.Fabric, t.Fabric) {
		return nil
	}
	tree := routed.MasterTree()
	t.MFT = fabric.NewMFT(t.Fabric, before.MFT.Top)
	for i := range before.MFT.LIDs() {
		lid := uint16(fabric.FirstMLID + i)
		if _, err := tree.AddGroup(t.MFT, lid, members(before, t.Fabric, lid)); err != nil {
			return err
		}
	}
	return nil
}

// members are the end ports that hear a group by some tables and that are in the
// subnet of f, which has the same nodes.
func members(t *fabric.Tables, f *fabric.Fabric, lid uint16) (all []int32) {
	for sw := range t.Fabric.Switches {
		n := t.Fabric.SwitchNode(int32(sw))
		for w, set := range t.MFT.Ports(int32(sw), lid) {
			for ; set != 0; set &= set - 1 {
				num := int32(64*w + bits.TrailingZeros64(set))
				if num > int32(n.NumPorts) {
					continue
				}
				end := n.FirstPort
				if num > 0 {
					end = f.Ports[n.FirstPort+num].Peer
				}
				if end != fabric.None && (num == 0 || f.Nodes[f.Ports[end].Node].Switch == fabric.None) && f.Nodes[f.Ports[end].Node].InSubnet {
					all = append(all, f.EndPortOf(end))
				}
			}
		}
	}
	return all
}
