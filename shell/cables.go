// SPDX-License-Identifier: Apache-2.0

package shell

import (
	"errors"
	"fmt"
	"strings"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/fabric/health"
)

type cableRow struct {
	leads
	Port    string             `json:"port"`
	Peer    string             `json:"peer,omitempty"`
	Cable   map[string]string  `json:"cable,omitempty"`
	Celsius *int               `json:"celsius,omitempty"`
	FEC     string             `json:"fec,omitempty"`
	Retrans string             `json:"retransmission,omitempty"`
	BER     map[string]float64 `json:"ber,omitempty"`
	cells   []any
}

func (r *cableRow) Cells() []any { return r.cells }

// showCables lists what ports say of their links beside counters, of a node, a port or all.
func (c *call) showCables() error {
	live := c.session.State().Live
	f := live.Fabric
	if len(live.Health.Ports()) == 0 {
		return errors.New("nothing was read of cables, error correction and bit error rates (a folder of ibdiagnet has them)")
	}
	ports := live.Health.Ports()
	if len(c.Args) > 0 {
		var err error
		if ports, err = c.portsOf(f); err != nil {
			return err
		}
	}
	var rows []*cableRow
	for _, at := range ports {
		if p := live.Health.At(at); p != nil {
			rows = append(rows, newCableRow(f, at, p))
		}
	}
	return c.list([]string{"PORT", "TO", "CABLE", "CELSIUS", "FEC", "RETRANS", "BER RAW, EFFECTIVE, SYMBOL"}, eachRow(rows))
}

func newCableRow(f *fabric.Fabric, at fabric.PortIndex, p *health.Port) *cableRow {
	row := &cableRow{leads: leads{toPort(f, at)}, Port: f.PortName(at)}
	if peer := f.Ports[at].Peer; peer != fabric.None {
		row.Peer = f.PortName(peer)
	}
	if p.FEC != health.Unknown {
		row.FEC = p.FEC.String()
	}
	if p.Retrans != health.Unknown {
		row.Retrans = p.Retrans.String()
	}
	var rates []string
	for i, name := range [health.NumBERs]string{"raw", "effective", "symbol"} {
		rates = append(rates, p.BER[i].String())
		if p.BER[i].Known {
			if row.BER == nil {
				row.BER = map[string]float64{}
			}
			row.BER[name] = p.BER[i].Value
		}
	}
	text, warm := "-", "-"
	if cable := p.Cable; cable != nil {
		row.Cable = map[string]string{}
		var words []string
		for _, k := range [...][2]string{{"vendor", cable.Vendor}, {"part", cable.Part}, {"serial", cable.Serial}, {"revision", cable.Revision}, {"length", cable.Length}, {"type", cable.Type}, {"firmware", cable.Firmware}} {
			if k[1] != "" {
				row.Cable[k[0]] = k[1]
				words = append(words, fabric.Escape(k[1]))
			}
		}
		text = strings.Join(words, " ")
		if cable.Measured {
			row.Celsius, warm = &cable.Celsius, fmt.Sprint(cable.Celsius)
		}
	}
	row.cells = []any{row.Port, orDash(row.Peer), text, warm, orDash(row.FEC), orDash(row.Retrans), strings.Join(rates, ", ")}
	return row
}
