// SPDX-License-Identifier: Apache-2.0

package problems

import (
	"fmt"
	"strings"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/fabric/counters"
	"example.org/ibconsole/fabric/health"
)

// Thresholds for measured values of links.
const (
	// badBER and poorBER are limits of the bit error rate after error correction. IBA requires at most 1e-12 of a link
	// (1.2.1, volume 2). With error correction, rates are far lower, so ibconsole also reports rates above 1e-15. This
	// second limit is our choice.
	badBER, poorBER = 1e-12, 1e-15
	// hotCable and warmCable are limits of a module's temperature in degrees Celsius. The commercial range is 0 to 70.
	// The limit hotCable is our choice.
	hotCable, warmCable = 75, 70
)

// totals holds the numbers of errors above which a port is reported.
var totals = counters.Thresholds()

// Totals reports ports that have counted many errors since their counters were cleared.
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
				text += " (its maximum)"
			}
			many = append(many, text)
			faults = faults || (linkFaults | signal).Has(k)
		}
		if len(many) == 0 {
			continue
		}
		severity, try := Note, "the receiver is too slow, or a path leads to a dead end; hint: run 'check "+
			"reach'"
		if faults {
			severity, try = Warning, "clear the counters and read them again; if they grow, check the cable"
		}
		r.AddAs(severity, Errors, PlaceOfPort(f, p.Port), try, "%s since they were cleared: %s",
			nameWithPeer(f, p.Port), strings.Join(many, ", "))
	}
}

// Health reports links with faults of error correction or high bit error rates, and hot modules.
func (r *Report) Health(f *fabric.Fabric, h *health.Report) {
	for _, at := range h.Ports() {
		p := h.At(at)
		r.bitErrors(f, at, p)
		if c := p.Cable; c != nil && c.Measured && c.Celsius >= warmCable {
			severity := Warning
			if c.Celsius >= hotCable {
				severity = Error
			}
			r.AddAs(severity, Hot, PlaceOfPort(f, at), "check the cooling: fans, blanking panels, adjacent devices",
				"the module in %s is at %d degrees Celsius", nameWithPeer(f, at), c.Celsius)
		}
		if peer := f.Ports[at].Peer; peer > at {
			r.compareFEC(f, at, p, h.At(peer))
		}
	}
}

func (r *Report) bitErrors(f *fabric.Fabric, at fabric.PortIndex, p *health.Port) {
	for _, k := range []struct {
		rate int
		what string
	}{
		{health.SymbolBER, "symbol error rate"},
		{health.EffectiveBER, "bit error rate after correction"},
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

// compareFEC reports links whose ends report different error correction modes, and fast links without error correction.
func (r *Report) compareFEC(f *fabric.Fabric, at fabric.PortIndex, p, q *health.Port) {
	const try = "firmware and cable of both ends: the mode is agreed when the link comes up"
	speed := f.Ports[at].Speed
	switch {
	case p.FEC == health.Unknown:
	case q != nil && q.FEC != health.Unknown && q.FEC != p.FEC:
		r.Add(FECMismatch, PlaceOfPort(f, at), try, "%s: error correction is %v at this end and %v at the other",
			nameWithPeer(f, at),
			p.FEC, q.FEC)
	case p.FEC == health.NoFEC && speed >= fabric.HDR:
		r.AddAs(Warning, FECMismatch, PlaceOfPort(f, at), try, "%s runs at %v without error correction, which that "+
			"speed requires", nameWithPeer(f, at), speed)
	}
}
