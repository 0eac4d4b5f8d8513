// SPDX-License-Identifier: Apache-2.0

package gen

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/mad"
)

// Option is an argument that all kinds of topologies take. Its value is one of Words, or a number if Words is empty.
type Option struct {
	Name, Help string
	Words      []string
}

// Common returns the options of all kinds.
func Common() []Option {
	return []Option{
		{"agg", "yes: one more port on every switch, with an aggregation node behind it", []string{"no", "yes"}},
		{"speed", "speed of all links; the default is ndr for a simulated subnet (sim:KIND:ARGS), sdr for a net file",
			[]string{"sdr", "ddr", "qdr", "fdr10", "fdr", "edr", "hdr", "ndr", "xdr"}},
		{
			"rail", "a subnet of the hosts' adapters with this number (1: mlx5_0), with its own GUIDs; " +
				"sim:rails:N,KIND:ARGS opens N of them", nil,
		},
	}
}

// maxRails is the highest number of a rail.
const maxRails = 64

// speeds holds the speeds for the words of the option "speed", in the same order.
var speeds = []fabric.Speed{fabric.SDR, fabric.DDR, fabric.QDR, fabric.FDR10, fabric.FDR, fabric.EDR, fabric.HDR,
	fabric.NDR, fabric.XDR}

// setCommon stores the value of an option that all kinds take. It reports whether name is such an option.
func setCommon(a *arguments, name, text string) (bool, error) {
	all := Common()
	i := slices.IndexFunc(all, func(o Option) bool { return o.Name == name })
	if i < 0 {
		return false, nil
	}
	words := all[i].Words
	if words == nil {
		n, err := number(text, 1, maxRails)
		if err != nil {
			return true, fmt.Errorf("%s: %w", name, err)
		}
		a.value[name] = n
		return true, nil
	}
	at := slices.Index(words, strings.ToLower(text))
	if at < 0 {
		return true, fmt.Errorf("%s: %q, expected one of %s", name, text, strings.Join(words, ", "))
	}
	a.value[name] = at
	return true, nil
}

// The description and the IDs of the aggregation nodes in Quantum switches.
const (
	aggregationDesc   = "Mellanox Technologies Aggregation Node"
	aggregationVendor = 0x2c9
	aggregationDevice = 0xcf09
)

// addAggregation adds an aggregation node to the last port of each switch.
func (n *net) addAggregation() error {
	for i, sw := range n.switchNodes {
		node, err := n.addCA(fabric.Node{Desc: aggregationDesc, NumPorts: 1, VendorID: aggregationVendor,
			DeviceID: aggregationDevice})
		if err != nil {
			return err
		}
		if err := n.link(node, 1, sw, n.switchPorts[i]); err != nil {
			return err
		}
	}
	return nil
}

// addHost adds a host with the given number of ports.
func (n *net) addHost(desc string, ports int) (fabric.NodeIndex, error) {
	return n.addCA(fabric.Node{Desc: desc, NumPorts: uint8(ports)})
}

func (n *net) addCA(node fabric.Node) (fabric.NodeIndex, error) {
	node.GUID, node.Type = firstHostGUID+n.nextHostGUID, mad.NodeCA
	if n.rail > 0 {
		node.SystemGUID = cmp.Or(node.SystemGUID, node.GUID)
		node.GUID += n.railGUIDs()
		if host, found := strings.CutSuffix(node.Desc, " HCA-1"); found {
			node.Desc = fmt.Sprintf("%s mlx5_%d", host, n.rail-1)
		}
	}
	n.nextHostGUID += uint64(node.NumPorts) + 1
	n.hosts++
	return n.add(node)
}

// addRow adds switches with the same number of ports and returns the first one.
func (n *net) addRow(switches, ports int, name func(int) string) (fabric.NodeIndex, error) {
	if err := checkPorts(ports); err != nil {
		return 0, err
	}
	var first fabric.NodeIndex = fabric.None
	for i := range switches {
		node, err := n.addSwitch(name(i), ports)
		if err != nil {
			return 0, err
		}
		if i == 0 {
			first = node
		}
	}
	return first, nil
}

// linkAll links each lower switch to each upper switch by a number of cables. On the lower switches it uses the ports
// after the first lowUsed ports. On the upper switches it uses the first ports.
func (n *net) linkAll(low fabric.NodeIndex, lows, lowUsed int, high fabric.NodeIndex, highs, cables int) error {
	for l := range lows {
		for h := range highs {
			for q := range cables {
				lowPort, highPort := lowUsed+h*cables+q+1, l*cables+q+1
				if err := n.link(low+fabric.NodeIndex(l), lowPort, high+fabric.NodeIndex(h), highPort); err != nil {
					return err
				}
			}
		}
	}
	return nil
}
