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

// Option is an argument of all kinds: one of some words, or a number where there are none.
type Option struct {
	Name, Help string
	Words      []string
}

// Common returns the options of all kinds.
func Common() []Option {
	return []Option{
		{"agg", "yes: one more port on every switch, with an aggregation node behind it", []string{"no", "yes"}},
		{"speed", "of all links; ndr of a simulated subnet (sim:KIND:ARGS), sdr of a net where it is not given",
			[]string{"sdr", "ddr", "qdr", "fdr10", "fdr", "edr", "hdr", "ndr", "xdr"}},
		{
			"rail", "a subnet behind the adapters of this number of the hosts (1: mlx5_0), with GUIDs of its own; " +
				"sim:rails:N,KIND:ARGS opens N of them", nil,
		},
	}
}

// mostRails is the highest number of a rail.
const mostRails = 64

// speeds are those of the words.
var speeds = []fabric.Speed{fabric.SDR, fabric.DDR, fabric.QDR, fabric.FDR10, fabric.FDR, fabric.EDR, fabric.HDR,
	fabric.NDR, fabric.XDR}

// setCommon takes the value of a common option, and reports whether it is one.
func setCommon(a *arguments, name, text string) (bool, error) {
	all := Common()
	i := slices.IndexFunc(all, func(o Option) bool { return o.Name == name })
	if i < 0 {
		return false, nil
	}
	words := all[i].Words
	if _, ok := a.value[name]; ok {
		return true, fmt.Errorf("%s is given twice", name)
	}
	if words == nil {
		n, err := number(text, 1, mostRails)
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

// aggregationDesc and the ids are those of the aggregation nodes of Quantum switches.
const (
	aggregationDesc   = "Mellanox Technologies Aggregation Node"
	aggregationVendor = 0x2c9
	aggregationDevice = 0xcf09
)

// addAggregation adds an aggregation node behind the last port of each switch.
func (n *net) addAggregation(f []fabric.NodeIndex, ports []int) error {
	for i, sw := range f {
		node, err := n.addCA(fabric.Node{Desc: aggregationDesc, NumPorts: 1, VendorID: aggregationVendor,
			DeviceID: aggregationDevice})
		if err != nil {
			return err
		}
		if err := n.link(node, 1, sw, ports[i]); err != nil {
			return err
		}
	}
	return nil
}

// addHost adds a host of so many ports.
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

// addRow adds so many switches of so many ports and returns the first.
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

// linkAll links each of some switches, from the ports behind those used, to each of some upper ones from their first
// port on, by so many cables each.
func (n *net) linkAll(low fabric.NodeIndex, lows, lowUsed int, high fabric.NodeIndex, highs, cables int) error {
	for l := range lows {
		for h := range highs {
			for q := range cables {
				if err := n.link(low+fabric.NodeIndex(l), lowUsed+h*cables+q+1, high+fabric.NodeIndex(h), l*cables+q+
					1); err != nil {
					return err
				}
			}
		}
	}
	return nil
}
