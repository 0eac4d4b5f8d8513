// SPDX-License-Identifier: Apache-2.0

package sa

import (
	"fmt"

	"example.org/ibconsole/mad"
)

// Status is what a subnet administration says beyond all classes' status (IBA 15.2.2), wrapped with that.
type Status uint8

// Statuses.
const (
	NoResources            Status = 1
	InvalidRequest         Status = 2
	NoRecords              Status = 3
	TooManyRecords         Status = 4
	InvalidGID             Status = 5
	InsufficientComponents Status = 6
	Denied                 Status = 7
	PrioritySuggested      Status = 8
)

func (s Status) Error() string {
	if words, ok := statusWords[s]; ok {
		return words
	}
	return fmt.Sprintf("SA status %d", uint8(s))
}

var statusWords = map[Status]string{
	NoResources:            "the subnet administration has no resources",
	InvalidRequest:         "invalid request",
	NoRecords:              "no such record",
	TooManyRecords:         "more than one record",
	InvalidGID:             "invalid GID",
	InsufficientComponents: "the request says too little",
	Denied:                 "denied",
	PrioritySuggested:      "another service level is suggested",
}

// MAD is the status as it is in the header of a MAD.
func (s Status) MAD() mad.Status { return mad.Status(s) << 8 }
