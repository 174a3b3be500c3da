"""Common English words, most of them one token for most tokenizers."""

_COMMON = (
    "a about after all also and any as at back be because bed before big book both bring but by "
    "call can city close come could day do door down each early end even every eye face far few "
    "find first five food for four from full get give go good great half hand hard have he head "
    "hear help her here high him home hot house how if in into it its just keep kind know land "
    "large last late learn left less let life light like line list live long look lot love low "
    "make man many may me mean men might mind more most move much must my name near need never "
    "new next night no not now of off old on once one only open or other our out over own page "
    "part people place play point put read real red right room round run said same saw say sea "
    "see seem set she short show side sit small so some soon still stop story such sun sure take "
    "talk tell ten than that the their them then there they thing think this those three time to "
    "too top town tree true try turn two under up us use very walk want warm was water way we "
    "week well went were what when where which while white who why wide will wind with word work "
    "world would write year yes yet you young your"
)
WORDS = _COMMON.split()
_SAFEST = (
    "the of and to in is that for it as was with be by on not he this are at from his or have an "
    "they which one had you all we her she there been their has would what will if can who out up "
    "time them about into more some could him than other my new like our"
)
SAFEST = _SAFEST.split()
"""The most frequent words of English: one token each wherever any word is."""
