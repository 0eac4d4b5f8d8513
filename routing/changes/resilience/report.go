// SPDX-License-Identifier: Apache-2.0

package resilience

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/internal/base/plain"
)

// Report holds the results of a study, or of some shards of it, so far.
type Report struct {
	Kind Kind `json:"kind"`
	// Fabric and Routing identify the subnet and the tables of the study. Reports that differ in these fields cannot be
	// merged.
	Fabric  string `json:"fabric"`
	Routing string `json:"routing"`
	// Failures is the number of failures in all shards. Done is the number of failures that this report covers.
	Failures int `json:"failures"`
	Done     int `json:"done"`
	// Shards is the number of shards of the study. Shard lists the shards that the report covers, from 1 to Shards.
	Shards int   `json:"shards"`
	Shard  []int `json:"shard"`
	// Paths is the number of paths that arrive without failures. Worst is the maximum number of paths over a link
	// between switches without failures.
	Paths int64 `json:"paths"`
	Worst int64 `json:"worst_load"`
	// Splitting counts the failures that make end ports unreachable. Losing counts the failures that lose paths.
	// Overloading counts the failures that increase the maximum number of paths over a link.
	Splitting   int `json:"splitting"`
	Losing      int `json:"losing"`
	Overloading int `json:"overloading"`
	// Routes names the routes whose credit loops were searched for, "" for repaired routes.
	Routes string `json:"routes,omitempty"`
	// Every is the distance of the failures whose routes were searched for credit loops. It is 0 if none were: earlier
	// versions did not search.
	Every int `json:"every"`
	// Proved counts the failures for which it was proved whether the routes have a credit loop. Looping counts the
	// failures with one. Unknown counts the failures that were checked without a result, because data were not read.
	// Refused counts the failures after which the engine refuses the subnet.
	Proved  int `json:"proved"`
	Looping int `json:"looping"`
	Unknown int `json:"unknown"`
	Refused int `json:"refused"`
	// Changed is the number of changed entries, summed over all failures.
	Changed int64 `json:"changed_entries"`
	// Failed lists the worst failures, at most [Kept]. Failures that lose most paths come first, then failures with
	// most paths over a link.
	Failed []Verdict `json:"failed"`

	// Unchecked is set if the report comes from a file without a checksum. Older versions wrote such files.
	Unchecked bool `json:"-"`
}

// count adds a verdict to the sums.
func (r *Report) count(v *Verdict) {
	if v.Unreachable > 0 {
		r.Splitting++
	}
	if v.Lost > 0 {
		r.Losing++
	}
	if v.Worst > r.Worst {
		r.Overloading++
	}
	switch v.Loop {
	case HasLoop:
		r.Looping++
		r.Proved++
	case NoLoop:
		r.Proved++
	case Unknown:
		r.Unknown++
	case Refused:
		r.Refused++
	}
	r.Changed += int64(v.Changed)
}

// Share returns the number of failures in the shards of the report.
func (r *Report) Share() int {
	n := 0
	for _, shard := range r.Shard {
		n += (r.Failures + r.Shards - shard) / r.Shards
	}
	return n
}

// Complete reports whether all failures of the report's shards are done.
func (r *Report) Complete() bool { return r.Done == r.Share() }

// ErrOther means that reports do not belong to one study.
var ErrOther = errors.New("the reports are of different studies")

func (r *Report) sameStudy(o *Report) error {
	switch {
	case r.Kind != o.Kind:
		return fmt.Errorf("%w: one of %s and one of %s", ErrOther, r.Kind, o.Kind)
	case r.Fabric != o.Fabric:
		return fmt.Errorf("%w: the fabrics differ", ErrOther)
	case r.Routing != o.Routing:
		return fmt.Errorf("%w: the routings differ", ErrOther)
	case r.Every != o.Every:
		return fmt.Errorf("%w: not both searched the same failures for credit loops, which earlier versions did not do",
			ErrOther)
	case r.Routes != o.Routes:
		return fmt.Errorf("%w: the proofs are of different routes", ErrOther)
	case r.Failures != o.Failures:
		return fmt.Errorf("%w: one has %d failures and one has %d", ErrOther, r.Failures, o.Failures)
	}
	return nil
}

// Read reads a report that [Report.Write] wrote. The argument name is the file name for error messages.
func Read(in io.Reader, name string) (*Report, error) {
	text, err := io.ReadAll(in)
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", name, err)
	}
	r := &Report{}
	err = json.Unmarshal(text, r)
	wrong, place := (*json.SyntaxError)(nil), (*json.UnmarshalTypeError)(nil)
	switch {
	case len(text) == 0:
		return nil, fmt.Errorf("%s: the file is empty, expected a report of resilience", name)
	case errors.As(err, &wrong) && int(wrong.Offset) >= len(text):
		return nil, fmt.Errorf("%s: the file is truncated at byte %d, expected a report of resilience", name, len(text))
	case errors.As(err, &wrong):
		return nil, fmt.Errorf("%s: at byte %d: %w, expected a report of resilience", name, wrong.Offset, err)
	case errors.As(err, &place):
		return nil, fmt.Errorf("%s: at byte %d: %w, expected a report of resilience", name, place.Offset, err)
	case err != nil:
		return nil, fmt.Errorf("%s: %w, expected a report of resilience", name, err)
	}
	if r.Unchecked, err = unchecked(text); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	if !r.escaped() {
		return nil, fmt.Errorf("%s: not a report of resilience: a name in it has control characters", name)
	}
	if r.Shards < 1 || r.Shards > maxShards || len(r.Shard) == 0 || len(r.Shard) > r.Shards || r.Failures < 0 ||
		r.Fabric == "" || r.Routing == "" {
		return nil, fmt.Errorf("%s: not a report of resilience: it has no fabric, routing or shard", name)
	}
	slices.Sort(r.Shard)
	for i, shard := range r.Shard {
		if shard < 1 || shard > r.Shards || i > 0 && shard == r.Shard[i-1] {
			return nil, fmt.Errorf("%s: invalid shards %v, expected different numbers from 1 to %d", name, r.Shard,
				r.Shards)
		}
	}
	if r.Done < 0 || r.Done > r.Share() {
		return nil, fmt.Errorf("%s: %d simulated failures, expected 0 to %d", name, r.Done, r.Share())
	}
	return r, nil
}

// Merge combines reports of different shards of one study. The result missing lists the shards without a report, the
// result unfinished lists the shards whose report is incomplete.
func Merge(reports []*Report) (all *Report, missing, unfinished []int, err error) {
	if len(reports) == 0 {
		return nil, nil, nil, errors.New("no reports to merge")
	}
	first := reports[0]
	sum := *first
	sum.Shard, sum.Failed, sum.Done, sum.Splitting, sum.Losing, sum.Overloading, sum.Changed = nil, []Verdict{},
		0, 0, 0, 0, 0
	sum.Proved, sum.Looping, sum.Unknown, sum.Refused = 0, 0, 0, 0
	for _, r := range reports {
		if err := first.sameStudy(r); err != nil {
			return nil, nil, nil, err
		}
		if r.Shards != first.Shards {
			return nil, nil, nil, fmt.Errorf("%w: one is divided into %d shards and one into %d",
				ErrOther, first.Shards, r.Shards)
		}
		for _, shard := range r.Shard {
			if slices.Contains(sum.Shard, shard) {
				return nil, nil, nil, fmt.Errorf("two reports of shard %d of %d", shard, r.Shards)
			}
			sum.Shard = append(sum.Shard, shard)
		}
		if !r.Complete() {
			unfinished = append(unfinished, r.Shard...)
		}
		sum.Done += r.Done
		sum.Splitting, sum.Losing, sum.Overloading = sum.Splitting+r.Splitting, sum.Losing+r.Losing, sum.Overloading+
			r.Overloading
		sum.Proved, sum.Looping, sum.Unknown = sum.Proved+r.Proved, sum.Looping+r.Looping, sum.Unknown+r.Unknown
		sum.Changed, sum.Refused = sum.Changed+r.Changed, sum.Refused+r.Refused
		sum.Failed = append(sum.Failed, r.Failed...)
	}
	slices.Sort(sum.Shard)
	slices.Sort(unfinished)
	slices.SortStableFunc(sum.Failed, worse)
	sum.Failed = slices.Clone(sum.Failed[:min(Kept, len(sum.Failed))])
	for shard := 1; shard <= sum.Shards; shard++ {
		if !slices.Contains(sum.Shard, shard) {
			missing = append(missing, shard)
		}
	}
	return &sum, missing, unfinished, nil
}

// maxShards is the maximum number of shards. It exceeds the size of a job array.
const maxShards = 1 << 20

// checksum is the start of the last member of the report's JSON object. The sum covers all bytes before it.
const checksum = `,"checksum":"sha256:`

// Write writes the report as one JSON object with a checksum at its end.
func (r *Report) Write(out io.Writer) error {
	text, err := json.Marshal(r)
	if err != nil {
		return err
	}
	text = bytes.TrimSuffix(text, []byte("}"))
	_, err = fmt.Fprintf(out, "%s%s%s", text, checksum, sumOf(text))
	return err
}

// sumOf returns the rest of the report after the constant checksum: the sum of text, and the end of the JSON object.
func sumOf(text []byte) string { return fmt.Sprintf("%x\"}\n", sha256.Sum256(text)) }

// unchecked reports whether the text of a report has no checksum. It returns an error if the checksum is wrong.
func unchecked(text []byte) (bool, error) {
	at := bytes.LastIndex(text, []byte(checksum))
	if at < 0 {
		return true, nil
	}
	want, got := sumOf(text[:at]), string(text[at+len(checksum):])
	if got == want {
		return false, nil
	}
	digits, _, _ := bytes.Cut([]byte(got), []byte("\""))
	return false, fmt.Errorf("%w: the stored checksum is %.16s..., but the content has checksum %.16s...; "+
		"expected an unchanged report of resilience", ErrDamaged, fabric.Escape(string(digits)), want)
}

// ErrDamaged means that a report was changed after it was written.
var ErrDamaged = errors.New("damaged or edited")

// escaped reports whether all names in the report are printable. A study writes only escaped names.
func (r *Report) escaped() bool {
	for i := range r.Failed {
		if v := &r.Failed[i]; !plain.Escaped(v.Name) || !plain.Escaped(v.At) ||
			!plain.Escaped(string(v.Loop)) || !plain.Escaped(v.Why) {
			return false
		}
	}
	return plain.Escaped(string(r.Kind)) && plain.Escaped(r.Routes)
}
