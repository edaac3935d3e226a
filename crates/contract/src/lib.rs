//! What a model is shown and what is accepted back.
