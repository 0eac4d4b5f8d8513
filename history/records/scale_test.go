// SPDX-License-Identifier: Apache-2.0

package records_test

import (
	"errors"
	"math/rand/v2"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"example.org/ibconsole/fabric/counters"
	"example.org/ibconsole/history/records"
	"example.org/ibconsole/internal/test/testenv"
)

// BenchmarkDay stores a day of 90,000 ports, or a week with full counts: errors and waits by the minute, of which one
// port in fifty has errors and one in five waits, and the traffic of all ports every ten minutes. It reports the share
// of a processor, and the size on the disk including rolled-up samples.
func BenchmarkDay(b *testing.B) {
	const ports = 90_000
	days := 1
	if testenv.Full() {
		days = 7
	}
	rnd := rand.New(rand.NewPCG(1, 1))
	for b.Loop() {
		file := filepath.Join(b.TempDir(), records.FileName)
		s := open(b, file)
		began := time.Unix(1_700_000_000/3600*3600, 0)
		samples := make([]records.Sample, ports)
		var used time.Duration
		for minute := 1; minute <= days*24*60; minute++ {
			now := began.Add(time.Duration(minute) * time.Minute)
			rounds := []records.Round{{Subnet: "a", What: counters.Errors, Every: time.Minute, Samples: samples}}
			if minute%10 == 0 {
				rounds = append(rounds, records.Round{Subnet: "a", What: records.Traffic, Every: 10 * time.Minute,
					Samples: samples})
			}
			for _, r := range rounds {
				for i := range samples {
					samples[i] = sample(i, now, r.Every.Seconds())
					fill(rnd, &samples[i], r.What, i)
				}
				before := processor(b)
				if err := errors.Join(s.Keep(b.Context(), r), s.RollUp(b.Context(), now),
					s.Trim(b.Context(), now)); err != nil {
					b.Fatal(err)
				}
				used += processor(b) - before
			}
		}
		size, err := s.Used(b.Context())
		if err != nil {
			b.Fatal(err)
		}
		b.ReportMetric(100*used.Seconds()/float64(days*24*60*60), "%core")
		b.ReportMetric(float64(size)/1e6/float64(days), "MB/day")
		end := began.Add(time.Duration(days) * 24 * time.Hour)
		asked := processor(b)
		all, err := s.Totals(b.Context(), "a", counters.Errors, began, end)
		if err != nil || len(all) == 0 {
			b.Fatal(len(all), err)
		}
		b.ReportMetric((processor(b) - asked).Seconds(), "s/totals")
		asked = processor(b)
		if _, err := s.Port(b.Context(), "a", key(70_000), began, end); err != nil {
			b.Fatal(err)
		}
		b.ReportMetric((processor(b) - asked).Seconds(), "s/port")
	}
}

func fill(rnd *rand.Rand, x *records.Sample, what counters.Set, port int) {
	if what.Has(counters.XmitData) {
		for c := range counters.Of(counters.XmitData, counters.RcvData, counters.XmitPackets,
			counters.RcvPackets).All() {
			x.Increase[c] = rnd.Uint64() >> (20 + rnd.IntN(10))
		}
		if port%40 < 2 { // a port to a host that sends multicast
			x.Increase[counters.MulticastXmitPackets] = rnd.Uint64N(100)
		}
		return
	}
	if rnd.IntN(50) == 0 {
		x.Increase[counters.SymbolErrors] = rnd.Uint64N(100)
	}
	if uint32(port)*2654435761>>8%5 == 0 {
		x.Increase[counters.XmitWait] = rnd.Uint64() >> (24 + rnd.IntN(10))
	}
}

func processor(b *testing.B) time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
