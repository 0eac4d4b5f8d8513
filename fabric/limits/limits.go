// SPDX-License-Identifier: Apache-2.0

// Package limits decides when the increase of a counter raises an alert, and when the alert ends.
package limits

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"example.org/ibconsole/fabric/counters"
	"example.org/ibconsole/fabric/problems"
	"example.org/ibconsole/internal/base/prose"
)

// Rule raises an alert if a counter of a port increases by more than Limit in Period. The alert ends once the increase
// was at most Clear for Hold. If the period is shorter than the interval between two readings, the average rate of that
// interval counts.
type Rule struct {
	Counter  counters.Counter
	Limit    uint64
	Period   time.Duration
	Clear    uint64
	Severity problems.Severity
	Source   string // where the limit comes from
	Off      bool   // the counter raises no alerts
}

// Hold is the time after which an alert ends. UFM shows its alarms for as long.
const Hold = 5 * time.Minute

// The publications with the default limits.
const (
	nvsentinel = "NVIDIA NVSentinel, docs/configuration/nic-health-monitor.md"
	ufm        = "NVIDIA UFM-SDN Appliance manual 4.18.4, Supported Traps and Events; per sample of 30 s"
)

// Defaults returns the rules that apply without a configuration. PortXmitWait has none: it also rises on a healthy
// subnet under load, and OpenSM's performance manager logs it only if told to (perfmgr_xmit_wait_log).
func Defaults() []Rule {
	return []Rule{
		{Counter: counters.SymbolErrors, Limit: 120, Period: time.Hour, Clear: 60, Severity: problems.Error,
			Source: nvsentinel},
		{Counter: counters.LinkErrorRecovery, Limit: 5, Period: time.Minute, Clear: 2, Severity: problems.Warning,
			Source: nvsentinel},
		{Counter: counters.LinkDowned, Period: time.Minute, Severity: problems.Error, Source: nvsentinel},
		{Counter: counters.RcvErrors, Limit: 10, Period: time.Second, Clear: 5, Severity: problems.Warning,
			Source: nvsentinel},
		{Counter: counters.XmitDiscards, Limit: 100, Period: time.Second, Clear: 50, Severity: problems.Warning,
			Source: nvsentinel},
		{Counter: counters.LocalLinkIntegrity, Period: time.Minute, Severity: problems.Error, Source: nvsentinel},
		{Counter: counters.BufferOverruns, Period: time.Minute, Severity: problems.Error, Source: nvsentinel},
		{Counter: counters.XmitConstraintErrors, Limit: 200, Period: 30 * time.Second, Clear: 100,
			Severity: problems.Warning, Source: ufm},
		{Counter: counters.RcvConstraintErrors, Limit: 200, Period: 30 * time.Second, Clear: 100,
			Severity: problems.Warning, Source: ufm},
		{Counter: counters.VL15Dropped, Limit: 50, Period: 30 * time.Second, Clear: 25, Severity: problems.Warning,
			Source: ufm},
	}
}

// With returns the rules with those of a configuration, which replace rules of the same counter.
func With(rules, own []Rule) []Rule {
	all := slices.Clone(rules)
	for _, r := range own {
		all = slices.DeleteFunc(all, func(x Rule) bool { return x.Counter == r.Counter })
		if !r.Off {
			all = append(all, r)
		}
	}
	return all
}

// longest is the maximum period of a rule.
const longest = 24 * time.Hour

// Parse parses a rule of a configuration, which is at a place: "SymbolErrorCounter 120/1h error clear=60", or
// "SymbolErrorCounter off". The severity is warning and the value of clear half of the limit by default.
func Parse(text, place string) (Rule, error) {
	words := strings.Fields(text)
	const form = "expected COUNTER N/PERIOD [error|warning|note] [clear=N], or COUNTER off"
	if len(words) < 2 {
		return Rule{}, fmt.Errorf("alert is %q, %s", text, form)
	}
	r := Rule{Severity: problems.Warning, Source: place}
	var err error
	if r.Counter, err = counterOf(words[0]); err != nil {
		return Rule{}, err
	}
	if len(words) == 2 && words[1] == "off" {
		r.Off = true
		return r, nil
	}
	limit, period, _ := strings.Cut(words[1], "/")
	if r.Limit, err = strconv.ParseUint(limit, 10, 63); err == nil {
		r.Period, err = time.ParseDuration(period)
	}
	if err != nil || r.Period < time.Second || r.Period > longest {
		return Rule{}, fmt.Errorf("the limit of %s is %q, expected N/PERIOD with a period of 1s to 24h", words[0],
			words[1])
	}
	r.Clear = r.Limit / 2
	for _, word := range words[2:] {
		if text, is := strings.CutPrefix(word, "clear="); is {
			if r.Clear, err = strconv.ParseUint(text, 10, 63); err != nil || r.Clear > r.Limit {
				return Rule{}, fmt.Errorf("clear is %q, expected 0 to %d", text, r.Limit)
			}
			continue
		}
		at := slices.IndexFunc(severities, func(s problems.Severity) bool { return s.String() == word })
		if at < 0 {
			return Rule{}, fmt.Errorf("unknown word %q, %s", word, form)
		}
		r.Severity = severities[at]
	}
	return r, nil
}

var severities = []problems.Severity{problems.Error, problems.Warning, problems.Note}

// counterOf returns the counter of a name, as perfquery prints it.
func counterOf(name string) (counters.Counter, error) {
	var names []string
	for c := range counters.Errors.All() {
		if c.String() == name {
			return c, nil
		}
		names = append(names, c.String())
	}
	near := ""
	if word := prose.Nearest(name, names); word != "" {
		near = fmt.Sprintf(": did you mean %q?", word)
	}
	return 0, fmt.Errorf("unknown error counter %q%s", name, near)
}

// Limits returns the limit as text: "more than 120 in 1h".
func (r *Rule) Limits() string {
	return fmt.Sprintf("more than %d in %s", r.Limit, PeriodText(r.Period))
}

// PeriodText returns a period without parts that are zero: "1h", "30s".
func PeriodText(d time.Duration) string {
	text := d.String()
	if strings.HasSuffix(text, "m0s") {
		text = strings.TrimSuffix(text, "0s")
	}
	if strings.HasSuffix(text, "h0m") {
		text = strings.TrimSuffix(text, "0m")
	}
	return text
}
