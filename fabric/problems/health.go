// SPDX-License-Identifier: Apache-2.0

package problems

import (
	"fmt"
	"strings"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/fabric/counters"
	"example.org/ibconsole/fabric/health"
)

// Thresholds of what links say of themselves.
const (
	// badBER and poorBER are bit error rates behind error correction: IBA asks for 1e-12 of a link (1.2.1, volume 2);
	// what corrects errors stays far below that, so that more than 1e-15 is worth a look. The second is our choice.
	badBER, poorBER = 1e-12, 1e-15
	// hotCable and warmCable are degrees Celsius of a module: those of the commercial range are made for 0 to 70. The
	// second step is our choice.
	hotCable, warmCable = 75, 70
)

// totals are how many errors a port may have counted until it is told.
var totals = counters.Thresholds()

// Totals tells of ports that had counted many errors by the time of a reading, since whenever they were cleared.
func (r *Report) Totals(f *fabric.Fabric, reading *counters.Reading) {
	if reading == nil {
		return
	}
	for i := range reading.Ports {
		p := &reading.Ports[i]
		var many []string
		faults := false
		for k := range (p.Beyond(&totals) & (linkFaults | signal | refusals | lossCounters)).All() {
			text := fmt.Sprintf("%v %d", k, p.Values[k])
			if p.Stopped.Has(k) {
				text += " (its greatest value)"
			}
			many = append(many, text)
			faults = faults || (linkFaults | signal).Has(k)
		}
		if len(many) == 0 {
			continue
		}
		severity, try := Note, "a receiver that is too slow, or a path that ends: check reach"
		if faults {
			severity, try = Warning, "clear them and read again: do they rise? Then the cable"
		}
		r.AddAs(severity, Errors, PlaceOfPort(f, p.Port), try, "%s since they were cleared: %s",
			nameWithPeer(f, p.Port), strings.Join(many, ", "))
	}
}

// Health tells of links by what their ends say of error correction, of bit error rates, and of modules that are hot.
func (r *Report) Health(f *fabric.Fabric, h *health.Report) {
	for _, at := range h.Ports() {
		p := h.At(at)
		r.bitErrors(f, at, p)
		if c := p.Cable; c != nil && c.Measured && c.Celsius >= warmCable {
			severity := Warning
			if c.Celsius >= hotCable {
				severity = Error
			}
			r.AddAs(severity, Hot, PlaceOfPort(f, at), "the air there: fans, blanking panels, what stands beside it",
				"the module in %s has %d degrees Celsius", nameWithPeer(f, at), c.Celsius)
		}
		if peer := f.Ports[at].Peer; peer > at {
			r.unlikeFEC(f, at, p, h.At(peer))
		}
	}
}

func (r *Report) bitErrors(f *fabric.Fabric, at fabric.PortIndex, p *health.Port) {
	for _, k := range []struct {
		rate int
		what string
	}{
		{health.SymbolBER, "symbol errors get through at a rate of"},
		{health.EffectiveBER, "bit errors are left after correction at a rate of"},
	} {
		rate := p.BER[k.rate]
		if !rate.Known || rate.Value <= poorBER {
			continue
		}
		severity := Warning
		if rate.Value > badBER {
			severity = Error
		}
		r.AddAs(severity, BitErrors, PlaceOfPort(f, at), "clean, reseat, then replace the cable", "%s: %s %v",
			nameWithPeer(f, at), k.what, rate)
		return
	}
}

// unlikeFEC finds a link whose ends say that errors are corrected otherwise, and one that needs it and has none.
func (r *Report) unlikeFEC(f *fabric.Fabric, at fabric.PortIndex, p, q *health.Port) {
	const try = "firmware and cable of both ends: the mode is agreed when the link comes up"
	speed := f.Ports[at].Speed
	switch {
	case p.FEC == health.Unknown:
	case q != nil && q.FEC != health.Unknown && q.FEC != p.FEC:
		r.Add(UnlikeFEC, PlaceOfPort(f, at), try, "%s: error correction is %v here and %v there", nameWithPeer(f, at),
			p.FEC, q.FEC)
	case p.FEC == health.NoFEC && speed >= fabric.HDR:
		r.AddAs(Warning, UnlikeFEC, PlaceOfPort(f, at), try, "%s runs at %v without error correction, which lanes of "+
			"that speed need", nameWithPeer(f, at), speed)
	}
}
