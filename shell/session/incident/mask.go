// SPDX-License-Identifier: Apache-2.0

package incident

import (
	"cmp"
	"fmt"
	"maps"
	"os"
	"os/user"
	"slices"
	"strconv"
	"strings"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/internal/base/mask"
	"example.org/ibconsole/mad"
)

// names maps names, GUIDs and addresses to other ones. Equal ones get equal ones.
type names struct {
	*mask.Masker
	hosts     map[string]string // the names of nodes without the name of the adapter
	guids     map[uint64]uint64
	strange   map[uint64]uint64 // GUIDs of no state
	addresses map[string]string
}

// hostOf splits a node description into the name of the host or switch and the rest, such as " HCA-1".
func hostOf(desc string) (host, rest string) {
	if at := strings.IndexByte(desc, ' '); at > 0 {
		return desc[:at], desc[at:]
	}
	return desc, ""
}

// node returns another description of a node.
func (n *names) node(of *fabric.Node) string {
	host, rest := hostOf(of.Desc)
	if other, ok := n.hosts[host]; ok {
		return other + adapter(rest)
	}
	return of.Desc
}

// adapter returns the rest of a description if it is one that drivers write, otherwise "".
func adapter(rest string) string {
	for _, known := range []string{" HCA-", " mlx4_", " mlx5_", " hfi1_", " qib"} {
		if digits, ok := strings.CutPrefix(rest, known); ok {
			if _, err := strconv.ParseUint(digits, 10, 8); err == nil {
				return rest
			}
		}
	}
	return ""
}

// guid returns another GUID, in the same order of [fabric.LEKey] for the GUIDs of the states. Others are numbered as
// they occur.
func (n *names) guid(guid uint64) uint64 {
	if other, ok := n.guids[guid]; ok {
		return other
	}
	if n.strange[guid] == 0 {
		n.strange[guid] = 0x03<<56 | uint64(len(n.strange)+1)
	}
	return n.strange[guid]
}

// guidText returns another GUID for one in a text. Short numbers that are no GUID of the states stay.
func (n *names) guidText(text string) string {
	digits, hasPrefix := strings.CutPrefix(strings.ToLower(text), "0x")
	guid, err := strconv.ParseUint(digits, 16, 64)
	if err != nil || guid == 0 {
		return text
	}
	if _, known := n.guids[guid]; !known && len(digits) <= 8 {
		return text
	}
	text = fmt.Sprintf("%016x", n.guid(guid))
	if hasPrefix {
		return "0x" + text
	}
	return text
}

func (n *names) address(text string) string {
	if n.addresses[text] == "" {
		n.addresses[text] = fmt.Sprintf("address-%d", len(n.addresses)+1)
	}
	return n.addresses[text]
}

// allNames collects the names and GUIDs of the states, and the names of users and of this machine.
func (g *gatherer) allNames() (*names, error) {
	n := &names{hosts: map[string]string{}, guids: map[uint64]uint64{}, strange: map[uint64]uint64{},
		addresses: map[string]string{}}
	all := map[string]string{}
	counts := map[string]int{}
	var guids []uint64
	kinds := map[mad.NodeType]string{mad.NodeSwitch: "switch", mad.NodeRouter: "router"}
	states := []*fabric.Fabric{g.after.Fabric, g.st.Live.Fabric, g.beforeFabric()}
	for _, f := range states {
		for i := range f.Nodes {
			node := &f.Nodes[i]
			guids = append(guids, node.GUID, node.SystemGUID)
			host, _ := hostOf(node.Desc)
			if host == "" || n.hosts[host] != "" {
				continue
			}
			kind := cmp.Or(kinds[node.Type], "host")
			counts[kind]++
			n.hosts[host] = fmt.Sprintf("%s-%d", kind, counts[kind])
		}
		for i := range f.Ports {
			guids = append(guids, f.Ports[i].GUID)
		}
	}
	for _, f := range states {
		for i := range f.Nodes {
			all[f.Nodes[i].Desc] = n.node(&f.Nodes[i])
		}
	}
	maps.Copy(all, n.hosts)
	slices.SortFunc(guids, func(a, b uint64) int { return cmp.Compare(fabric.LEKey(a), fabric.LEKey(b)) })
	for i, guid := range slices.DeleteFunc(slices.Compact(guids), func(guid uint64) bool { return guid == 0 }) {
		// The lowest bytes come first in the order of LEKey.
		n.guids[guid] = 0x02<<56 | uint64(i+1)&0xff<<16 | uint64(i+1)>>8&0xff<<8 | uint64(i+1)>>16&0xff
	}
	if err := g.people(all); err != nil {
		return nil, err
	}
	delete(all, "")
	n.Masker = mask.New(all, n.guidText, n.address)
	return n, nil
}

func (g *gatherer) beforeFabric() *fabric.Fabric {
	if g.before == nil {
		return g.after.Fabric
	}
	return g.before.Fabric
}

// people adds the names of users, of this machine and of files.
func (g *gatherer) people(all map[string]string) error {
	users := map[string]bool{}
	if store, err := g.session.History(); err == nil {
		entries, err := store.List(g.ctx, g.session.Subnet(), 0)
		if err != nil {
			return err
		}
		for i := range entries {
			users[entries[i].Who] = true
		}
		journal, err := store.Journal(g.ctx, g.session.Subnet())
		if err != nil {
			return err
		}
		for i := range journal {
			users[journal[i].Who] = true
		}
	}
	if u, err := user.Current(); err == nil {
		users[u.Username] = true
	}
	delete(users, "root")
	delete(users, "unknown")
	list := make([]string, 0, len(users))
	for u := range users {
		list = append(list, u)
	}
	slices.Sort(list)
	for i, u := range list {
		all[u] = fmt.Sprintf("user-%d", i+1)
	}
	for _, word := range g.opt.Words {
		all[word] = "source"
		if _, arg, ok := strings.Cut(word, ":"); ok {
			all[arg] = "source"
		}
	}
	if g.opt.SMLog != "" {
		all[g.opt.SMLog] = "opensm.log"
	}
	if host, err := os.Hostname(); err == nil {
		all[host] = "this-host"
	}
	if home, err := os.UserHomeDir(); err == nil && home != "/" {
		all[home] = "home"
	}
	return nil
}
